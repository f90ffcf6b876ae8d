// The probes of shared memory: a part of the seam (probe.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace sonde {

/// Width of a shared memory bank, where the device offers a choice (Kepler).
enum class BankMode { four_bytes, eight_bytes };

/// One warp loads from shared memory: each thread goes round its own words, and every load depends
/// on the one before. With one word for each thread it shows latency by conflict pattern (Mei and
/// Chu 2016, listing 4), with many words latency by footprint (Wong 2010, section IV-F).
struct SharedChaseProbe {
  std::vector<std::uint32_t> thread_offsets_bytes;  // one per thread, multiples of element_bytes
  int element_bytes = 4;                            // 4 or 8
  BankMode bank_mode = BankMode::four_bytes;
  /// Recorded one by one. elapsed_cycles covers an amortised loop of as many, run after them.
  std::uint64_t accesses = 0;
  std::vector<int> sms;
  std::uint32_t words = 1;       // of each thread; all are loaded once before anything is timed
  std::uint32_t step_bytes = 0;  // from one word of a thread to the next
  std::uint32_t hop_words = 1;   // from word i to (i + hop_words) mod words; coprime to words
};

/// Bytes of shared memory from the first word of a chase to the end of its last one.
std::uint64_t shared_chase_span_bytes(const SharedChaseProbe& probe);

/// `copies`: every thread loads `ilp` elements and stores them elsewhere. `loads`: it loads one
/// element `ilp` times; `ilp` must be shared_loads_in_row.
enum class SharedWork { copies, loads };
inline constexpr int shared_loads_in_row = 8;

/// Every thread does this work inside shared memory without conflicts, `passes` times, with
/// `blocks_per_sm` blocks on each SM (Mei and Chu 2016, section 6.1). One lane per SM:
/// elapsed_cycles from the start of its first block to the end of its last one.
struct SharedStreamProbe {
  int block_threads = 0;
  int blocks_per_sm = 1;
  int ilp = 1;
  int element_bytes = 4;  // 4 or 8
  BankMode bank_mode = BankMode::four_bytes;
  int passes = 1;
  SharedWork work = SharedWork::copies;
};

/// Bytes of shared memory for the elements of one block.
std::uint64_t shared_stream_block_bytes(const SharedStreamProbe& probe);

/// The form of an addition. `returned`: it returns the old value, and the next one adds that value.
/// `unused`: nobody uses the old value, and additions follow each other as fast as the SM takes
/// them. `counted`: as `unused`, with the constant 1, which some GPUs count up for a whole warp.
enum class AtomicForm { returned, unused, counted };

/// One warp adds to 4-byte words of shared memory, atomically, each thread to its own word again
/// and again; threads with one offset share a word. One lane per SM: elapsed_cycles of `accesses`
/// operations of the warp without the code around them.
struct SharedAtomicProbe {
  AtomicForm form = AtomicForm::returned;
  std::vector<std::uint32_t> thread_offsets_bytes;  // one for each thread of a warp
  std::uint64_t accesses = 0;                       // a multiple of shared_atomic_group
  std::vector<int> sms;
};
inline constexpr std::uint64_t shared_atomic_group = 16;  // that the kernel makes in a row

/// Parts of describe_probe and validate_probe.
nlohmann::json describe(const SharedChaseProbe& probe);
nlohmann::json describe(const SharedStreamProbe& probe);
nlohmann::json describe(const SharedAtomicProbe& probe);
void check(const SharedChaseProbe& probe, int sm_count);
void check(const SharedStreamProbe& probe, int sm_count);
void check(const SharedAtomicProbe& probe, int sm_count);

}  // namespace sonde
