// Banks of shared memory: how many passes one warp's access takes.
#include "device/sim/cores/bank_conflicts.hpp"

#include "base/gpu_facts.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

/// Passes of one group: the most rows that any bank has to read. With 8-byte banks the 4-byte mode
/// puts successive 4-byte words into successive banks, and words 32 apart into one row.
std::uint32_t passes_of_group(const SharedModel& shared, std::uint32_t word_bytes,
                              int element_bytes, std::span<const std::uint32_t> offsets_bytes) {
  std::vector<std::vector<std::uint32_t>> rows(shared.banks);
  for (std::uint32_t offset : offsets_bytes) {
    for (std::uint32_t part = 0; part < static_cast<std::uint32_t>(element_bytes); part += 4) {
      const std::uint32_t bank = (offset + part) / word_bytes % shared.banks;
      rows[bank].push_back((offset + part) / (shared.banks * shared.bank_bytes));
    }
  }
  std::size_t most = 1;
  for (std::vector<std::uint32_t>& bank : rows) {
    std::sort(bank.begin(), bank.end());
    most = std::max<std::size_t>(
        most, static_cast<std::size_t>(std::unique(bank.begin(), bank.end()) - bank.begin()));
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace

std::uint32_t count_passes(const SharedModel& shared, BankMode mode, int element_bytes,
                           std::span<const std::uint32_t> offsets_bytes) {
  const std::uint32_t word_bytes = mode == BankMode::eight_bytes ? 8 : 4;
  const std::size_t row_bytes = shared.banks * shared.bank_bytes;
  const std::size_t full_warp_bytes = warp_threads * static_cast<std::size_t>(element_bytes);
  const std::size_t groups = std::max<std::size_t>(1, full_warp_bytes / row_bytes);
  const std::size_t group_threads = warp_threads / groups;
  std::uint32_t passes = 0;
  for (std::size_t first = 0; first < offsets_bytes.size(); first += group_threads) {
    const std::size_t count = std::min(group_threads, offsets_bytes.size() - first);
    passes +=
        passes_of_group(shared, word_bytes, element_bytes, offsets_bytes.subspan(first, count));
  }
  return passes;
}

std::uint32_t count_atomic_turns(const SharedModel& shared, AtomicForm form,
                                 std::span<const std::uint32_t> offsets_bytes) {
  const bool together = form == AtomicForm::counted && shared.atomics && shared.atomics->counts_up;
  std::vector<std::uint32_t> offsets(offsets_bytes.begin(), offsets_bytes.end());
  if (together) {
    std::ranges::sort(offsets);
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  }
  std::vector<std::uint32_t> turns(shared.banks);
  for (std::uint32_t offset : offsets) ++turns[offset / shared.bank_bytes % shared.banks];
  return std::ranges::max(turns);
}

}  // namespace sonde::sim
