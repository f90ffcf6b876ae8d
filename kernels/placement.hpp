// Input of every kernel that must run on chosen SMs, and the result of each lane. Plain C++: the
// CUDA backend fills these structs, the kernels read them.
#pragma once

#include <cstdint>

namespace sonde::kernels {

/// A kernel for the host; the backend launches it (src/device/cuda/session/launch.hpp).
template <class Launch>
using Kernel = void (*)(Launch);

/// PTX cache operators of a global load (PTX ISA, ld).
enum class Load { ca, cg, nc, cv };

/// %smid of all GPUs so far is far below this (B200: 148 SMs).
inline constexpr int max_sms = 1024;

/// Counters that the blocks of a launch share; zero before it.
struct PlacementState {
  std::uint32_t claimed;  // wanted SMs that have a block
  std::uint32_t gone;     // blocks that were not needed and left
  std::uint32_t arrived;  // lanes ready to start
  std::uint32_t turn;     // lane that may run, if lanes run one after the other
  std::uint32_t claims[max_sms];
};

/// The SMs that a launch wants. The scheduler cannot place a block on a given SM; so each block
/// reads %smid, and stays only if it is the first block on a wanted SM.
struct Placement {
  const std::int32_t* rank_of_sm = nullptr;  // [max_sms] in device memory; -1: not wanted
  PlacementState* state = nullptr;
  std::uint32_t* arrived =
      nullptr;                 // of `state`, or of a launch that starts together with this one
  std::uint32_t wanted = 0;    // SMs
  std::uint64_t claim_ns = 0;  // longest wait of a block until the others are placed
  std::uint64_t limit_ns = 0;  // time limit of a lane
};

enum class LaneStatus : std::uint32_t {
  never_ran,  // its SM got no block
  done,
  timed_out,
  moved,  // %smid changed (preemption): the cycles mix two clocks
};

struct LaneResult {
  LaneStatus status = LaneStatus::never_ran;
  std::uint32_t sm = 0;
  std::uint64_t elapsed_cycles = 0;
  std::uint64_t final_value = 0;  // where a chain ended, or the sum of a script
};

/// Input of kernels whose lanes are blocks of clusters; lanes are numbered by cluster, then rank.
struct ClusterLanes {
  PlacementState* state = nullptr;  // zero
  LaneResult* results = nullptr;    // [lane]
  std::uint64_t limit_ns = 0;
};

/// First start and last end of the blocks on an SM, by its clock; first_cycles begins as all ones.
struct SmSpan {
  unsigned long long first_cycles;
  unsigned long long last_cycles;
};

}  // namespace sonde::kernels
