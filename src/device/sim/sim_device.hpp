// The simulated GPU: plays probes with the code of this folder. It shows only traces and what a
// driver would report.
#pragma once

#include "device/device.hpp"
#include "device/sim/memory/memory_system.hpp"
#include "device/sim/play/peer.hpp"

namespace sonde::sim {

/// Makes the memory that records a lost GPU ("fallen off the bus"), shared by this process and its
/// later forks: one worker loses the GPU, the next one cannot open it. Call it before the first
/// fork; later calls do nothing. @throws Error if there is no memory
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
  /// Applies the faults that a launch meets before it begins; one may end the process.
  /// @throws DeviceError, DeviceLostError
  void meet_faults();
  /// True if a fault that begins with this launch (0: never) has begun.
  bool has_begun(std::uint64_t launch) const { return launch != 0 && launches_ >= launch; }
  bool has_neighbour() const {
    return faults_.neighbour &&
           (faults_.neighbour->launch == 1 || has_begun(faults_.neighbour->launch));
  }
  /// The faults of this launch.
  Faults faults_now() const;
  /// Share of the highest SM clock that throttling leaves, that warming leaves, and both.
  double throttle_factor() const;
  double sink_factor() const;
  double clock_factor() const { return throttle_factor() * sink_factor(); }
  double temperature_c() const;
  double sm_clock_hz() const { return die_.info.sm_clock_hz * clock_factor(); }

  Model model_;
  Faults faults_;
  Die die_;
  std::vector<LinkedPeer> peers_;
  MemorySystem memory_;                // reset by each probe
  std::uint64_t launches_ = 0;         // since the device was opened
  std::uint64_t launches_of_job_ = 0;  // since the job began
  std::uint64_t draw_ = 0;             // number of the draw of the noise
  double now_ns_ = 0;                  // simulated time since the job began
  bool lost_ = false;
};

}  // namespace sonde::sim
