// The simulated GPU: launches, faults, conditions; the probes themselves are played elsewhere.
#include "device/sim/sim_device.hpp"

#include "base/error.hpp"
#include "device/sim/play/play.hpp"

#include <chrono>
#include <thread>

namespace sonde::sim {
namespace {

// NVML: clocks event reason "hardware thermal slowdown".
constexpr std::uint64_t thermal_slowdown = 0x40;
// Any plausible values: an idle board, and one at its slowdown temperature.
constexpr double cool_temperature_c = 41;
constexpr double hot_temperature_c = 88;
constexpr double power_w = 180;
// A launch costs at least this much, so that launches do not share a start time.
constexpr double launch_ns = 5000;

double longest_ns(const Trace& trace, double sm_clock_hz) {
  double longest = 0;
  for (const LaneTrace& lane : trace.lanes) {
    longest = std::max(longest, static_cast<double>(lane.elapsed_cycles) * 1e9 / sm_clock_hz);
  }
  return longest;
}

}  // namespace

SimDevice::SimDevice(FaultyModel faulty, std::uint64_t seed_of_die)
    : model_(std::move(faulty.model)),
      faults_(std::move(faulty.faults)),
      die_(make_die(model_, faults_, seed_of_die)),
      memory_(std::in_place, model_, die_) {}

Health SimDevice::health() {
  const bool throttled = faults_.clock_factor < 1;
  return {.temperature_c = throttled ? hot_temperature_c : cool_temperature_c,
          .power_w = power_w,
          .sm_clock_hz = sm_clock_hz(),
          .memory_clock_hz = die_.info.memory_clock_hz,
          .throttle_reasons = throttled ? thermal_slowdown : 0,
          .ecc_corrected = faults_.ecc_corrected};
}

void SimDevice::begin_job() {
  launches_of_job_ = 0;
  now_ns_ = 0;
  memory_.emplace(model_, die_);
}

void SimDevice::meet_faults() {
  if (launches_ == faults_.hang_launch && !lost_) {
    lost_ = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(model_.watchdog_s));
    throw DeviceLostError("the kernel did not end in time (the GPU hangs) drain it and reset it");
  }
  if (lost_ || (faults_.sticky_launch != 0 && launches_ >= faults_.sticky_launch)) {
    lost_ = true;
    throw DeviceLostError(
        "illegal state of the GPU (a sticky error, no launch can work any more) "
        "reset it");
  }
}

Trace SimDevice::play(const ProbeSpec& spec) {
  ++launches_;
  ++launches_of_job_;
  meet_faults();
  const std::uint64_t seed = derive_seed(die_.seed, "launch " + std::to_string(launches_of_job_));
  const Launch launch{.model = model_,
                      .faults = faults_,
                      .die = die_,
                      .memory = *memory_,
                      .sm_clock_hz = sm_clock_hz(),
                      .now_ns = now_ns_,
                      .number = launches_of_job_,
                      .seed = seed};
  Trace trace = std::visit([&launch](const auto& probe) { return sim::play(launch, probe); }, spec);
  const Health now = health();
  trace.conditions = {.sm_clock_hz = now.sm_clock_hz,
                      .memory_clock_hz = now.memory_clock_hz,
                      .temperature_c = now.temperature_c,
                      .throttle_reasons = now.throttle_reasons,
                      .seed = seed};
  now_ns_ += launch_ns + longest_ns(trace, sm_clock_hz());
  return trace;
}

}  // namespace sonde::sim
