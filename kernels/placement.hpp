// What every kernel that must run on chosen SMs is told, and what each of its lanes tells back.
// Plain C++: the CUDA backend fills these structs, the kernels read them.
#pragma once

#include <cstdint>

namespace sonde::kernels {

/// A kernel as the host knows it: the backend launches it (src/device/cuda/session/launch.hpp).
template <class Launch>
using Kernel = void (*)(Launch);

/// PTX cache operators of a global load (PTX ISA, ld).
enum class Load { ca, cg, nc, cv };

/// %smid of any GPU so far is far below this (B200: 148 SMs).
inline constexpr int max_sms = 1024;

/// Counters that the blocks of one launch share; all zero before it.
struct PlacementState {
  std::uint32_t claimed;  // wanted SMs that have a block
  std::uint32_t gone;     // blocks that were not needed and have left
  std::uint32_t arrived;  // lanes ready to start
  std::uint32_t turn;     // lane whose turn it is, if they run one after the other
  std::uint32_t claims[max_sms];
};

/// Which SMs a launch wants: block scheduling cannot be asked for an SM, so each block reads %smid
/// and stays only if it is the first on a wanted one.
struct Placement {
  const std::int32_t* rank_of_sm = nullptr;  // [max_sms] in device memory; -1: not wanted
  PlacementState* state = nullptr;
  std::uint32_t* arrived = nullptr;  // that of the state, or of a launch that begins with this one
  std::uint32_t wanted = 0;          // SMs
  std::uint64_t claim_ns = 0;        // a block waits no longer for the others to be placed
  std::uint64_t limit_ns = 0;        // a lane gives up after this
};

enum class LaneStatus : std::uint32_t {
  never_ran,  // its SM got no block
  done,
  timed_out,
  moved,  // %smid changed (preemption): cycles of two clocks were mixed
};

struct LaneResult {
  LaneStatus status = LaneStatus::never_ran;
  std::uint32_t sm = 0;
  std::uint64_t elapsed_cycles = 0;
  std::uint64_t final_value = 0;  // where a chain ended, or what a script summed up
};

/// What kernels of lanes of clusters are told. Lanes are counted cluster by cluster, in each rank
/// by rank.
struct ClusterLanes {
  PlacementState* state = nullptr;  // zero
  LaneResult* results = nullptr;    // [lane]
  std::uint64_t limit_ns = 0;
};

/// First start and last end of the blocks on one SM, by its clock; first must be all ones before.
struct SmSpan {
  unsigned long long first_cycles;
  unsigned long long last_cycles;
};

}  // namespace sonde::kernels
