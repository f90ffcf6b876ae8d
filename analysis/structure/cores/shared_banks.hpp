// The banks of shared memory, from latencies under chosen conflicts. Input of jobs/shared.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

/// Two threads of a warp, the second `i` words of 4 bytes behind the first: pair_latency_cycles[i].
/// Words that conflict lie in one bank but not in one row of it.
struct SharedBanks {
  std::uint64_t count = 0;
  std::uint64_t bank_bytes = 0;
};

/// The first distance in conflict is one row of all banks (count x bank size); the distances in
/// conflict within the next row are the words of one bank row, so their number gives the size.
/// Holds for 4-byte banks and for both modes of 8-byte ones (Mei and Chu 2016, figures 17 and 19).
/// nullopt if no distance is in conflict, or the scan ends before the second row does.
std::optional<SharedBanks> infer_banks(std::span<const double> pair_latency_cycles);

/// One offset for each of `threads` threads such that every `ways` of them meet in a bank, each in
/// a row of its own. @pre ways divides threads
std::vector<std::uint32_t> conflict_offsets(int threads, int ways, const SharedBanks& banks,
                                            int element_bytes);

/// Offsets of thread t at t x stride elements (Mei and Chu 2016, listing 4).
std::vector<std::uint32_t> stride_offsets(int threads, int stride, int element_bytes);

}  // namespace sonde
