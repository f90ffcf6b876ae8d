// Page tables, the page window and the places of physical pages.
#include "device/sim/page_tables.hpp"

#include <bit>

namespace sonde::sim {
namespace {

// Blocks of the random mapping are permuted among 2^20: with 2 MB pages that is 2 TB.
constexpr std::uint64_t block_number_bits = 20;
constexpr std::uint64_t block_number_mask = (1ULL << block_number_bits) - 1;

/// A permutation of the block numbers; bits above are left alone.
std::uint64_t permute_block(std::uint64_t block, std::uint64_t key) {
  std::uint64_t low = block & block_number_mask;
  for (int round = 0; round < 3; ++round) {
    key = mix_bits(key);
    low = (low * (key | 1) + (key >> 32)) & block_number_mask;
    low ^= low >> (block_number_bits / 2);
  }
  return (block & ~block_number_mask) | low;
}

}  // namespace

PageTables::PageTables(const PageModel& model)
    : model_(model),
      page_shift_(std::countr_zero(model.page_bytes)),
      block_shift_(std::countr_zero(model.block_bytes)),
      block_mask_(model.block_bytes - 1) {}

const CacheModel& PageModel::tlb(std::size_t place) const {
  return place < tlbs.size() ? tlbs[place] : path_tlbs[place - tlbs.size()];
}

void PageTables::begin_probe(std::uint64_t span_bytes, std::uint64_t seed) {
  walked_.assign((span_bytes >> page_shift_) + 1, false);
  active_window_ = 0;
  if (model_.mapping == PageMapping::contiguous) return;
  places_.resize((span_bytes >> block_shift_) + 1);
  for (std::uint64_t block = 0; block < places_.size(); ++block) {
    places_[block] = permute_block(block, seed) << block_shift_;
  }
}

/// A walk reads the entry of the page; true if this probe had not read it before.
bool PageTables::read_entry(std::uint64_t address) {
  const std::size_t page = address >> page_shift_;
  const bool cold = !walked_[page];
  walked_[page] = true;
  return cold;
}

Translation PageTables::translate(std::span<CacheArray* const> tlbs, std::uint64_t address,
                                  std::uint64_t physical) {
  Translation result{.physical = physical};
  for (CacheArray* tlb : tlbs) {
    if (tlb->access(address)) return result;
    ++result.outcome;
  }
  result.cold = read_entry(address);
  result.outcome += result.cold ? 1 : 0;
  if (model_.window_bytes > 0) {
    const std::uint64_t window = address / model_.window_bytes;
    if (window != active_window_) result.outcome = tlbs.size() + 2;
    active_window_ = window;
  }
  return result;
}

}  // namespace sonde::sim
