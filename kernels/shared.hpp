// Shared memory: latency by conflict pattern and footprint, atomics, and copies inside it.
#pragma once

#include "kernels/placement.hpp"
#include "kernels/stream/stream.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sonde::kernels {

/// The warp's words lie behind the sinks, at a multiple of all banks (32 x 8 bytes).
inline constexpr unsigned shared_data_offset_bytes = 256;

struct SharedChaseLaunch {
  Placement placement;
  LaneResult* results = nullptr;     // [rank]
  std::uint16_t* records = nullptr;  // [rank * accesses]
  std::uint32_t offsets_bytes[32] = {};
  std::uint32_t threads = 32;
  std::uint32_t words = 1;       // of each thread
  std::uint32_t step_bytes = 0;  // between them
  std::uint32_t hop_words = 1;   // from each to the next that is loaded; coprime to `words`
  std::uint32_t data_bytes = 0;  // of all words, a multiple of 16
  std::uint32_t accesses = 0;
  std::uint32_t rounds = 2;  // a rehearsal and the measurement; not known to the compiler
};

/// Sinks, words and record of one block.
unsigned shared_chase_bytes(const SharedChaseLaunch& launch);

cudaError_t launch_shared_chase(const SharedChaseLaunch& launch, int element_bytes,
                                const LaunchShape& shape, cudaStream_t stream);

/// What an addition to shared memory is: see AtomicForm of the probe.
enum class SharedAtomic { returned, unused, counted };

/// Additions between two looks at the loop counter.
inline constexpr std::uint32_t atomics_in_row = 16;

/// The result's elapsed cycles are those of `accesses` additions: a run of twice as many less one
/// of so many. Its final value is 0 if every word ended with the sum of what was added to it.
struct SharedAtomicLaunch {
  Placement placement;
  LaneResult* results = nullptr;  // [rank]
  std::uint32_t offsets_bytes[32] = {};
  std::uint32_t accesses = 0;  // a multiple of atomics_in_row
};

/// Launches one warp for each block, with `shape.shared_bytes` for sinks and words.
cudaError_t launch_shared_atomics(const SharedAtomicLaunch& launch, SharedAtomic form,
                                  const LaunchShape& shape, cudaStream_t stream);

struct SharedStreamLaunch {
  SmSpan* spans = nullptr;                // [max_sms]
  std::uint32_t* blocks_on_sm = nullptr;  // [max_sms], zero
  std::uint32_t* arrived = nullptr;       // zero
  std::uint32_t* timed_out = nullptr;
  std::uint32_t passes = 1;
  std::uint64_t limit_ns = 0;
};

/// Whether `ilp` is one of the unroll factors that are compiled: those of Mei and Chu 2016,
/// section 6.1.
constexpr bool shared_stream_ilp_exists(int ilp) {
  return ilp == 1 || ilp == 2 || ilp == 4 || ilp == 6 || ilp == 8;
}

/// Blocks of that shape that an SM can hold at once: by registers, threads and shared memory.
cudaError_t count_resident_streams(int* blocks, int element_bytes, int ilp,
                                   const LaunchShape& shape);

/// Queues `shape.grid_blocks` blocks, all resident at once, that copy ilp x threads elements from
/// the first half of their shared memory to the second, `passes` times.
cudaError_t launch_shared_stream(const SharedStreamLaunch& launch, int element_bytes, int ilp,
                                 const LaunchShape& shape, cudaStream_t stream);

}  // namespace sonde::kernels
