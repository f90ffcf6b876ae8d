// From the addresses of a path to those that physically addressed caches see, and what the
// translation met on its way. MemorySystem picks the latency by it.
#pragma once

#include "device/sim/memory/cache_array.hpp"

#include <span>

namespace sonde::sim {

struct Translation {
  std::size_t outcome = 0;  // place in a LatencyRow
  bool cold = false;        // the page table entry had not been read before
};

/// Which physical page each page of the memory has, drawn once for a die, and which entries a probe
/// has read.
class PageTables {
 public:
  /// Keeps a reference to the model.
  /// @param memory_address of the first page
  /// @param memory_bytes of the device: pages beyond keep their places
  /// @param seed of the pages' places
  PageTables(const PageModel& model, std::uint64_t memory_address, std::uint64_t memory_bytes,
             std::uint64_t seed);

  /// No entry has been read; the page-table window is where the buffer begins.
  /// @param first_address of the buffer, a multiple of the page
  void begin_probe(std::uint64_t first_address, std::uint64_t span_bytes);

  /// Asks the TLBs in order; if none has the page, walks the page tables, and moves the page-table
  /// window there.
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

  Translation walk(std::size_t levels, std::uint64_t address);
  bool read_entry(std::uint64_t address);
  std::uint64_t permute_block(std::uint64_t block) const;
  std::uint64_t permute_once(std::uint64_t block) const;

  const PageModel& model_;
  std::uint64_t memory_address_ = 0;
  int page_shift_ = 0;
  int block_shift_ = 0;
  std::uint64_t block_mask_ = 0;
  std::uint64_t block_count_ = 0;
  std::uint64_t seed_ = 0;
  mutable std::vector<std::uint64_t> places_;  // random mapping: of each block, once asked for
  std::uint64_t first_page_ = 0;               // of the buffer
  std::vector<bool> walked_;                   // by page of the buffer
  std::uint64_t active_table_window_ = 0;
};

}  // namespace sonde::sim
