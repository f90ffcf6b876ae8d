// How many passes over the banks of shared memory the access of one warp takes.
#pragma once

#include "base/gpu_facts.hpp"
#include "device/probe/probe.hpp"
#include "device/sim/model/model.hpp"

#include <algorithm>
#include <ranges>
#include <set>
#include <span>

namespace sonde::sim {

/// Passes of one group of threads: the largest number of rows that one bank has to read. With
/// 8-byte banks the 4-byte mode puts successive 4-byte words into successive banks, and words 32
/// apart into one row.
inline std::uint32_t passes_of_group(const SharedModel& shared, std::uint32_t word_bytes,
                                     int element_bytes,
                                     std::span<const std::uint32_t> offsets_bytes) {
  std::vector<std::set<std::uint32_t>> rows(shared.banks);
  for (std::uint32_t offset : offsets_bytes) {
    for (std::uint32_t part = 0; part < static_cast<std::uint32_t>(element_bytes); part += 4) {
      const std::uint32_t bank = (offset + part) / word_bytes % shared.banks;
      rows[bank].insert((offset + part) / (shared.banks * shared.bank_bytes));
    }
  }
  const auto count = [](const std::set<std::uint32_t>& bank) { return bank.size(); };
  return static_cast<std::uint32_t>(
      std::max<std::size_t>(1, std::ranges::max(rows | std::views::transform(count))));
}

/// Passes over the banks for one access: the threads go in as many groups as their words fill all
/// banks, and each group takes as many passes as its busiest bank has different rows to read; one
/// if none of its threads reads. Words in one row of a bank come in the same pass, so a broadcast
/// costs nothing (Mei and Chu 2016, section 6.2).
inline std::uint32_t count_passes(const SharedModel& shared, BankMode mode, int element_bytes,
                                  std::span<const std::uint32_t> offsets_bytes) {
  const std::uint32_t word_bytes = mode == BankMode::eight_bytes ? 8 : 4;
  const std::size_t row_bytes = shared.banks * shared.bank_bytes;
  const std::size_t full_warp_bytes = warp_threads * static_cast<std::size_t>(element_bytes);
  const std::size_t groups = std::max<std::size_t>(1, full_warp_bytes / row_bytes);
  const std::size_t group_threads = warp_threads / groups;
  std::uint32_t passes = 0;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = std::min(group * group_threads, offsets_bytes.size());
    const std::size_t count = std::min(group_threads, offsets_bytes.size() - first);
    passes +=
        passes_of_group(shared, word_bytes, element_bytes, offsets_bytes.subspan(first, count));
  }
  return passes;
}

/// Turns of the busiest bank in one atomic operation of a warp: it serves one thread per turn. A
/// GPU that counts up needs one turn for all additions of 1 to one word.
inline std::uint32_t count_atomic_turns(const SharedModel& shared, AtomicForm form,
                                        std::span<const std::uint32_t> offsets_bytes) {
  const bool together = form == AtomicForm::counted && shared.atomics && shared.atomics->counts_up;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> turns(shared.banks);
  for (std::uint32_t offset : offsets_bytes) {
    if (seen.insert(offset).second || !together) ++turns[offset / shared.bank_bytes % shared.banks];
  }
  return std::ranges::max(turns);
}

}  // namespace sonde::sim
