// What a TLB miss costs: the page walk, a switch of the page-table window, and where pages lie.
#include "device/sim/memory/page_tables.hpp"

#include <bit>

namespace sonde::sim {
namespace {

// Blocks of the random mapping are permuted among 2^20: with 2 MB pages that is 2 TB.
constexpr std::uint64_t block_number_bits = 20;
constexpr std::uint64_t block_number_mask = (1ULL << block_number_bits) - 1;

}  // namespace

PageTables::PageTables(const PageModel& model)
    : model_(model),
      page_shift_(std::countr_zero(model.page_bytes)),
      block_shift_(std::countr_zero(model.block_bytes)),
      block_mask_(model.block_bytes - 1) {}

void PageTables::begin_probe(std::uint64_t span_bytes, std::uint64_t seed) {
  walked_.assign((span_bytes >> page_shift_) + 1, false);
  active_table_window_ = 0;
  if (model_.mapping == PageMapping::contiguous) return;
  seed_ = seed;
  places_.assign((span_bytes >> block_shift_) + 1, unknown);
}

/// A permutation of the block numbers; bits above are left alone.
std::uint64_t PageTables::permute_block(std::uint64_t block) const {
  std::uint64_t low = block & block_number_mask;
  std::uint64_t key = seed_;
  for (int round = 0; round < 3; ++round) {
    key = mix_bits(key);
    low = (low * (key | 1) + (key >> 32)) & block_number_mask;
    low ^= low >> (block_number_bits / 2);
  }
  return (block & ~block_number_mask) | low;
}

/// A walk reads the entry of the page; true if this probe had not read it before.
bool PageTables::read_entry(std::uint64_t address) {
  const std::size_t page = address >> page_shift_;
  const bool cold = !walked_[page];
  walked_[page] = true;
  return cold;
}

/// No TLB has the page.
Translation PageTables::walk(std::size_t levels, std::uint64_t address, std::uint64_t physical) {
  Translation result{.physical = physical, .cold = read_entry(address)};
  result.outcome = levels + (result.cold ? 1 : 0);
  if (model_.window_bytes > 0) {
    const std::uint64_t table_window = address / model_.window_bytes;
    if (table_window != active_table_window_) result.outcome = levels + 2;
    active_table_window_ = table_window;
  }
  return result;
}

}  // namespace sonde::sim
