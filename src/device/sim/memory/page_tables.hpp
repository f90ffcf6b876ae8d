// Translates addresses of programs to physical ones, and says which TLB or page-table level
// answered. MemorySystem picks the latency by that outcome.
#pragma once

#include "base/random.hpp"
#include "device/sim/memory/cache_array.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace sonde::sim {

struct Translation {
  std::size_t outcome = 0;  // index in a LatencyRow
  bool cold = false;        // the page table entry had not been read before
};

/// The physical place of each page of the memory, drawn once for a die, and the page-table entries
/// that a probe has read.
class PageTables {
 public:
  /// Keeps a reference to the model.
  /// @param memory_address of the first page
  /// @param memory_bytes of the device; pages beyond it are not moved
  /// @param seed draws the places of the pages
  PageTables(const PageModel& model, std::uint64_t memory_address, std::uint64_t memory_bytes,
             std::uint64_t seed)
      : model_(model),
        memory_address_(memory_address),
        page_shift_(std::countr_zero(model.page_bytes)),
        block_shift_(std::countr_zero(model.block_bytes)),
        block_mask_(model.block_bytes - 1),
        seed_(seed) {
    if (model.mapping == PageMapping::contiguous) return;
    block_count_ = memory_bytes >> block_shift_;
    places_.assign(block_count_ + 1, unknown);
  }

  /// Begins a probe: no entry has been read, and the page-table window is where the buffer begins.
  /// @param first_address of the buffer, a multiple of the page
  void begin_probe(std::uint64_t first_address, std::uint64_t span_bytes) {
    first_page_ = first_address >> page_shift_;
    walked_.assign((span_bytes >> page_shift_) + 1, false);
    active_table_window_ = model_.window_bytes > 0 ? first_address / model_.window_bytes : 0;
    if (places_.empty()) return;  // contiguous: there are no blocks
    const std::uint64_t end_block = (first_address - memory_address_ + span_bytes) >> block_shift_;
    if (places_.size() <= end_block) places_.resize(end_block + 1, unknown);
  }

  /// Asks the TLBs in order; if none has the page, walks the page tables and moves the page-table
  /// window to it.
  Translation translate(std::span<CacheArray* const> tlbs, std::uint64_t address) {
    for (std::size_t level = 0; level < tlbs.size(); ++level) {
      if (tlbs[level]->access(address)) return {.outcome = level};
    }
    return walk(tlbs.size(), address);
  }

  std::uint64_t to_physical(std::uint64_t address) const {
    const std::uint64_t offset = address - memory_address_;
    if (places_.empty()) return offset;
    std::uint64_t& place = places_[offset >> block_shift_];
    if (place == unknown) place = permute_block(offset >> block_shift_) << block_shift_;
    return place | (offset & block_mask_);
  }

 private:
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  /// No TLB has the page. A walk is cold if this probe had not read the entry of the page before.
  Translation walk(std::size_t levels, std::uint64_t address) {
    const std::size_t page = (address >> page_shift_) - first_page_;
    Translation result{.cold = !walked_[page]};
    walked_[page] = true;
    result.outcome = result.cold ? levels + 1 : levels;
    if (model_.window_bytes > 0) {
      const std::uint64_t table_window = address / model_.window_bytes;
      if (table_window != active_table_window_) result.outcome = levels + 2;
      active_table_window_ = table_window;
    }
    return result;
  }
  /// Permutes the numbers below the power of two that holds all blocks, until the result lies in
  /// the memory (Black and Rogaway 2002, ciphers with arbitrary finite domains).
  std::uint64_t permute_block(std::uint64_t block) const {
    if (block >= block_count_) return block;
    const auto bits = static_cast<int>(std::bit_width(block_count_ - 1));
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    do {
      std::uint64_t key = seed_;
      for (int round = 0; round < 3; ++round) {
        key = mix_bits(key);
        block = (block * (key | 1) + (key >> 32)) & mask;
        block ^= block >> std::max(1, bits / 2);
      }
    } while (block >= block_count_);
    return block;
  }

  const PageModel& model_;
  std::uint64_t memory_address_ = 0;
  int page_shift_ = 0;
  int block_shift_ = 0;
  std::uint64_t block_mask_ = 0;
  std::uint64_t block_count_ = 0;
  std::uint64_t seed_ = 0;
  mutable std::vector<std::uint64_t> places_;  // random mapping: by block, once asked for
  std::uint64_t first_page_ = 0;               // of the buffer
  std::vector<bool> walked_;                   // by page of the buffer
  std::uint64_t active_table_window_ = 0;
};

}  // namespace sonde::sim
