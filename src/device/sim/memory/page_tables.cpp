// What a TLB miss costs: the page walk, a switch of the page-table window, and where pages lie.
#include "device/sim/memory/page_tables.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>

namespace sonde::sim {

PageTables::PageTables(const PageModel& model, std::uint64_t memory_address,
                       std::uint64_t memory_bytes, std::uint64_t seed)
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

void PageTables::begin_probe(std::uint64_t first_address, std::uint64_t span_bytes) {
  first_page_ = first_address >> page_shift_;
  walked_.assign((span_bytes >> page_shift_) + 1, false);
  active_table_window_ = model_.window_bytes > 0 ? first_address / model_.window_bytes : 0;
  if (places_.empty()) return;  // contiguous: there are no blocks
  const std::uint64_t end_block = (first_address - memory_address_ + span_bytes) >> block_shift_;
  if (places_.size() <= end_block) places_.resize(end_block + 1, unknown);
}

/// A permutation of the numbers below the power of two that holds all blocks.
std::uint64_t PageTables::permute_once(std::uint64_t block) const {
  const auto bits = static_cast<int>(std::bit_width(block_count_ - 1));
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t key = seed_;
  for (int round = 0; round < 3; ++round) {
    key = mix_bits(key);
    block = (block * (key | 1) + (key >> 32)) & mask;
    block ^= block >> std::max(1, bits / 2);
  }
  return block;
}

/// A permutation of the blocks of the memory: numbers beyond are permuted again until they lie in
/// it (Black and Rogaway 2002, ciphers with arbitrary finite domains).
std::uint64_t PageTables::permute_block(std::uint64_t block) const {
  if (block >= block_count_) return block;
  do {
    block = permute_once(block);
  } while (block >= block_count_);
  return block;
}

/// A walk reads the entry of the page; true if this probe had not read it before.
bool PageTables::read_entry(std::uint64_t address) {
  const std::size_t page = (address >> page_shift_) - first_page_;
  const bool cold = !walked_[page];
  walked_[page] = true;
  return cold;
}

/// No TLB has the page.
Translation PageTables::walk(std::size_t levels, std::uint64_t address) {
  Translation result{.cold = read_entry(address)};
  result.outcome = result.cold ? levels + 1 : levels;
  if (model_.window_bytes > 0) {
    const std::uint64_t table_window = address / model_.window_bytes;
    if (table_window != active_table_window_) result.outcome = levels + 2;
    active_table_window_ = table_window;
  }
  return result;
}

}  // namespace sonde::sim
