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
      block_shift_(std::countr_zero(model.block_bytes)) {}

const CacheModel& PageModel::tlb(std::size_t place) const {
  return place < tlbs.size() ? tlbs[place] : path_tlbs[place - tlbs.size()];
}

void PageTables::begin_probe(std::uint64_t buffer_bytes, std::uint64_t seed) {
  walked_.assign((buffer_bytes >> page_shift_) + 1, false);
  active_window_ = 0;
  key_ = seed;
}

std::uint64_t PageTables::to_physical(std::uint64_t address) const {
  if (model_.mapping == PageMapping::contiguous) return address;
  const std::uint64_t block = permute_block(address >> block_shift_, key_);
  return (block << block_shift_) | (address & (model_.block_bytes - 1));
}

/// A walk reads the entry of the page; true if this probe had not read it before.
bool PageTables::read_entry(std::uint64_t address) {
  const std::size_t page = address >> page_shift_;
  // Rows of a texture end with whole tiles, so a few lie behind the end of the buffer.
  if (page >= walked_.size()) walked_.resize(page + 1, false);
  const bool cold = !walked_[page];
  walked_[page] = true;
  return cold;
}

Translation PageTables::translate(std::span<CacheArray* const> tlbs, std::uint64_t address) {
  Translation result{.physical = to_physical(address)};
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
