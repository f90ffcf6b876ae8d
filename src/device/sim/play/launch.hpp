// What all launches on a simulated GPU have in common: the die, the blocks that fit on an SM, and
// checks of the data. The plays of this folder use it.
#pragma once

#include "base/error.hpp"
#include "device/sim/memory/memory_system.hpp"
#include "device/sim/play/peer.hpp"

namespace sonde::sim {

/// Launches of a stream differ by this fraction of their time (run-to-run spread of H200 streams:
/// 0.1 %).
inline constexpr double repeat_spread = 0.001;

struct Launch {
  const Model& model;
  const Faults& faults;
  const Die& die;
  const std::vector<LinkedPeer>& peers;
  MemorySystem& memory;
  double sm_clock_hz = 0;    // as throttled
  double now_ns = 0;         // simulated time since the job began
  std::uint64_t number = 0;  // number of the launch in the job, from 1
  std::uint64_t seed = 0;    // of all that this launch draws
};

/// The address at which the buffer of a probe begins.
inline std::uint64_t buffer_address(const Launch& launch, Place place, std::uint64_t buffer_bytes) {
  return launch.die.memory_address +
         draw_buffer_offset(launch.model, launch.die.seed, place, buffer_bytes);
}

/// What the model declares of a part of the GPU. @throws DeviceError if it declares nothing
template <class Part>
const Part& declared(const std::optional<Part>& part, const char* name) {
  if (part) return *part;
  throw DeviceError("nothing is known of the " + std::string(name) +
                    " of this GPU (its model declares none)");
}

/// Adds a lane on that SM.
inline LaneTrace& add_lane(Trace& trace, int sm, std::uint64_t accesses = 0) {
  LaneTrace& lane = trace.lanes.emplace_back();
  lane.sm = sm;
  lane.accesses = accesses;
  return lane;
}

/// The clock of an SM so many cycles after time 0, and the timer of the GPU.
std::uint64_t read_clock(const Launch& launch, int sm, std::uint64_t cycles);
std::uint64_t read_timer(const Launch& launch, double time_ns);

/// For launches that check the words they load. @throws DeviceError by the fault wrong_data
void check_data(const Launch& launch);

/// The smallest carve-out for blocks that keep `block_bytes` of shared memory, at least
/// `wanted_bytes` if given. @throws DeviceError if none is large enough
std::uint64_t choose_carveout(const DeviceInfo& info, std::uint64_t block_bytes,
                              std::optional<std::uint64_t> wanted_bytes);

/// Blocks of this size for which an SM has slots, threads and shared memory.
int most_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes);

/// The same. @throws DeviceError if not even one fits
int resident_blocks(const Model& model, int block_threads, std::uint64_t block_shared_bytes);

/// Warps of one block, the last of which may be partial.
int warps_of(int block_threads);

/// As many clusters as fit, as the SM of each rank; for each launch in another order (cluster.cpp).
/// SMs that are left over stay idle.
/// @throws DeviceError if the GPU has no such clusters, or not one fits
std::vector<std::vector<int>> fill_with_clusters(const Launch& launch, int cluster_blocks,
                                                 int launches = 1);

/// Numbers of the first `count` SMs.
std::vector<int> first_sms(int count);

}  // namespace sonde::sim
