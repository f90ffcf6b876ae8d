// The simulated GPU: plays probes through the machinery of this folder. It gives away nothing but
// traces and what a driver would tell.
#pragma once

#include "device/device.hpp"
#include "device/sim/memory/memory_system.hpp"
#include "device/sim/play/peer.hpp"

namespace sonde::sim {

/// Makes the memory in which GPUs that "have fallen off the bus" are kept, and which this process
/// shares with all that it forks from now on: a worker loses the GPU, the next one cannot open it.
/// Call it before the first fork; later calls do nothing. @throws Error if there is no memory
void prepare_to_lose_gpus();

class SimDevice final : public Device {
 public:
  /// @param seed_of_die see die_seed
  /// @throws DeviceError if this GPU is gone
  SimDevice(FaultyModel faulty, std::uint64_t seed_of_die, std::vector<LinkedPeer> peers = {});

  const DeviceInfo& info() const override { return die_.info; }
  Health health() override;
  Links links() override;
  XidLog xids() override;
  std::vector<int> register_counts() override;
  void begin_job() override;
  void draw_anew() override { ++draw_; }
  PeerLink link_to(const std::string& peer_uuid) override;
  std::string machine_code(const std::string& op) override;

 protected:
  Trace play(const ProbeSpec& spec) override;

 private:
  /// What the next launch meets before it begins; it may end the process.
  /// @throws DeviceError, DeviceLostError
  void meet_faults();
  /// Whether a fault that begins with this launch (0: never) is there by now.
  bool has_begun(std::uint64_t launch) const { return launch != 0 && launches_ >= launch; }
  bool has_neighbour() const {
    return faults_.neighbour &&
           (faults_.neighbour->launch == 1 || has_begun(faults_.neighbour->launch));
  }
  /// As they are in this launch.
  Faults faults_now() const;
  /// Of the highest SM clock: what throttling leaves, what warming leaves, and both.
  double throttle_factor() const;
  double sink_factor() const;
  double clock_factor() const { return throttle_factor() * sink_factor(); }
  double temperature_c() const;
  double sm_clock_hz() const { return die_.info.sm_clock_hz * clock_factor(); }

  Model model_;
  Faults faults_;
  Die die_;
  std::vector<LinkedPeer> peers_;
  MemorySystem memory_;                // begins anew with each probe
  std::uint64_t launches_ = 0;         // since the device was opened
  std::uint64_t launches_of_job_ = 0;  // since the job began
  std::uint64_t draw_ = 0;             // of its noise
  double now_ns_ = 0;                  // simulated time since the job began
  bool lost_ = false;
};

}  // namespace sonde::sim
