// The simulated GPU: plays probes through the machinery of this folder. It gives away nothing but
// traces and what a driver would tell.
#pragma once

#include "device/device.hpp"
#include "device/sim/memory/memory_system.hpp"

#include <optional>

namespace sonde::sim {

class SimDevice final : public Device {
 public:
  /// @param seed_of_die see die_seed
  SimDevice(FaultyModel faulty, std::uint64_t seed_of_die);

  const DeviceInfo& info() const override { return die_.info; }
  Health health() override;
  void begin_job() override;

 protected:
  Trace play(const ProbeSpec& spec) override;

 private:
  /// Hangs, sticky errors: @throws DeviceLostError
  void meet_faults();
  double sm_clock_hz() const { return die_.info.sm_clock_hz * faults_.clock_factor; }

  Model model_;
  Faults faults_;
  Die die_;
  std::optional<MemorySystem> memory_;  // begins anew with each job
  std::uint64_t launches_ = 0;          // since the device was opened
  std::uint64_t launches_of_job_ = 0;   // since the job began
  double now_ns_ = 0;                   // simulated time since the job began
  bool lost_ = false;
};

}  // namespace sonde::sim
