// Shared memory: latency by conflict pattern and footprint, atomics, copies inside shared memory.
#pragma once

#include "kernels/placement.hpp"
#include "kernels/stream/stream.hpp"

#include <cstdint>

namespace sonde::kernels {

/// Offset of the words after the sinks: a multiple of all banks (32 x 8 bytes).
inline constexpr unsigned shared_data_offset_bytes = 256;

struct SharedChaseLaunch {
  Placement placement;
  LaneResult* results = nullptr;     // [rank]
  std::uint16_t* records = nullptr;  // [rank * accesses]
  std::uint32_t offsets_bytes[32] = {};
  std::uint32_t threads = 32;
  std::uint32_t words = 1;       // of each thread
  std::uint32_t step_bytes = 0;  // between them
  std::uint32_t hop_words = 1;   // from a word to the next one that is loaded; coprime to `words`
  std::uint32_t data_bytes = 0;  // of all words, a multiple of 16
  std::uint32_t accesses = 0;
  std::uint32_t rounds = 2;  // a rehearsal and the measurement; unknown to the compiler
};

/// Size of the sinks, words and records of a block.
unsigned shared_chase_bytes(const SharedChaseLaunch& launch);

/// @param element_bytes 4 or 8
Kernel<SharedChaseLaunch> find_shared_chase(int element_bytes);

/// Kinds of additions to shared memory: see AtomicForm of the probe.
enum class SharedAtomic { returned, unused, counted };

/// Additions between two checks of the loop counter.
inline constexpr std::uint32_t atomics_in_row = 16;

/// The result has the elapsed cycles of `accesses` additions: a run of twice as many minus a run of
/// as many. final_value is 0 if every word ended with the right sum.
struct SharedAtomicLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t offsets_bytes[32] = {};
  std::uint32_t accesses = 0;  // a multiple of atomics_in_row
};

/// For blocks of one warp, with shared memory for sinks and words.
Kernel<SharedAtomicLaunch> find_shared_atomics(SharedAtomic form);

struct SharedStreamLaunch {
  SmSpan* spans = nullptr;                // [max_sms]
  std::uint32_t* blocks_on_sm = nullptr;  // [max_sms], zero
  std::uint32_t* arrived = nullptr;       // zero
  std::uint32_t* timed_out = nullptr;
  std::uint32_t passes = 1;
  std::uint64_t limit_ns = 0;
};

/// For blocks, all resident at once, that copy ilp x threads elements from the first half of their
/// shared memory to the second, `passes` times. Null if there is none; ilp as in Mei and Chu 2016,
/// section 6.1.
Kernel<SharedStreamLaunch> find_shared_stream(int element_bytes, int ilp);

/// For blocks, all resident at once, whose threads load an element shared_loads_in_row times,
/// `passes` times.
Kernel<SharedStreamLaunch> find_shared_loads(int element_bytes);
inline constexpr int shared_loads_in_row = 8;

}  // namespace sonde::kernels
