// The banks of shared memory, from latencies under chosen conflicts. For jobs/shared.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sonde {

struct SharedBanks {
  std::uint64_t count = 0;
  std::uint64_t bank_bytes = 0;
};

/// Words conflict if they lie in one bank, but in different rows of it. The first distance with a
/// conflict is one row of all banks (count x bank size). Within the next row the distances with a
/// conflict are the words of one bank row: their number gives the bank size. Holds for banks of 4
/// bytes and both modes of 8-byte banks (Mei and Chu 2016, figures 17 and 19).
/// @param pair_latency_cycles [i] of two threads of a warp, i words of 4 bytes apart
/// @return nullopt if no distance has a clear conflict, or the scan ends within the second row
std::optional<SharedBanks> infer_banks(std::span<const double> pair_latency_cycles);

/// The offset of a word of 4 bytes for each thread, such that every `ways` threads meet in one
/// bank, each in its own row. @pre ways divides threads
std::vector<std::uint32_t> conflict_offsets(int threads, int ways, const SharedBanks& banks);

/// Offsets of thread t at t x stride elements (Mei and Chu 2016, listing 4).
std::vector<std::uint32_t> stride_offsets(int threads, int stride, int element_bytes);

}  // namespace sonde
