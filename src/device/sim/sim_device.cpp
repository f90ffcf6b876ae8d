// The simulated GPU: launches, faults and conditions. The files of play/ play the probes.
#include "device/sim/sim_device.hpp"

#include "base/error.hpp"
#include "base/failure_marks.hpp"
#include "base/random.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <thread>

namespace sonde::sim {
namespace {

// NVML: clocks event reason "hardware thermal slowdown".
constexpr std::uint64_t thermal_slowdown = 0x40;
// Any plausible values: an idle board, and one at its slowdown temperature.
constexpr double cool_temperature_c = 41;
constexpr double hot_temperature_c = 88;
// Share of the clock that is lost on a board as hot as that: boost clocks fall by steps of some 15
// MHz as the board warms, long before the driver reports a slowdown.
constexpr double hot_sink_fraction = 0.1;
constexpr double power_w = 180;
// Least time of a launch, so that launches do not share a start time.
constexpr double launch_ns = 5000;
// Registers of a tiny kernel, and the most that an instruction can name on any GPU (CUDA binary
// utilities: R0 to R254).
constexpr int least_registers = 16;
constexpr int most_registers = 255;

/// The GPU that is gone. A process and its forks share it, as they measure one GPU.
using GoneDie = std::atomic<std::uint64_t>;   // its seed + 1; 0: none is gone
static_assert(GoneDie::is_always_lock_free);  // or it would not span processes

GoneDie& gone_die() {
  static GoneDie* const shared = [] {
    void* memory =
        mmap(nullptr, sizeof(GoneDie), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("no memory to share with other processes (mmap failed)");
    return new (memory) GoneDie;
  }();
  return *shared;
}

/// The longest lane; copies have no lanes, so their repeats are added up.
double longest_ns(const Trace& trace, double sm_clock_hz) {
  double longest = 0;
  if (trace.lanes.empty()) {
    longest = std::accumulate(trace.repeat_ns.begin(), trace.repeat_ns.end(), 0.0);
  }
  for (const LaneTrace& lane : trace.lanes) {
    longest = std::max(longest, static_cast<double>(lane.elapsed_cycles) * 1e9 / sm_clock_hz);
  }
  return longest;
}

void spoil_with_nan(Trace& trace) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::ranges::fill(trace.repeat_ns, nan);
  trace.conditions.sm_clock_hz = nan;
  trace.conditions.memory_clock_hz = nan;
  trace.conditions.temperature_c = nan;
}

/// Ends the process as a driver that accesses invalid memory does, past any signal handler.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

std::uint64_t scale(std::uint64_t cycles, double factor, std::uint64_t most) {
  return std::min(most, static_cast<std::uint64_t>(static_cast<double>(cycles) * factor));
}

void delay(LaneTrace& lane, double factor) {
  constexpr std::uint64_t unbounded = std::uint64_t{1} << 60;
  lane.elapsed_cycles = scale(lane.elapsed_cycles, factor, unbounded);
  for (std::uint32_t& cycles : lane.window_cycles) {
    cycles = static_cast<std::uint32_t>(scale(cycles, factor, longest_window_cycles));
  }
  if (lane.histogram.empty()) return;
  std::vector<std::uint64_t> counts(histogram_bins);
  for (const WindowCount& bin : lane.histogram) {
    counts[scale(bin.window_cycles, factor, histogram_bins - 1)] += bin.accesses;
  }
  lane.histogram = to_histogram<std::uint64_t>(counts);
}

/// Some SMs serve both processes in turn: in a share of the probes they take 1.5 to 2.6 times as
/// long. On two real H100s one SM did so beside a process that copied memory.
/// @param seed_of_die draws which SMs
/// @param seed of the probe: draws which of them are late in it, and by how much
void share_sms(const Neighbour& neighbour, int sm_count, std::uint64_t seed_of_die,
               std::uint64_t seed, Trace& trace) {
  constexpr double least_factor = 1.5;
  constexpr double most_factor = 2.6;
  constexpr double shared_sms = 0.1;  // share of the SMs, per unit of the neighbour's share
  Random sms(derive_seed(seed_of_die, "SMs of the neighbour"));
  Random probe(derive_seed(seed, "turns of the neighbour"));
  const auto count = static_cast<std::uint64_t>(sm_count);
  std::map<int, double> factors;  // by SM
  for (auto left = 1 + static_cast<int>(neighbour.share * shared_sms * sm_count); left > 0;
       --left) {
    const int sm = static_cast<int>(sms.below(count));
    const bool is_late = probe.unit() < neighbour.share;
    const double factor = least_factor + (most_factor - least_factor) * probe.unit();
    if (is_late) factors.try_emplace(sm, factor);
  }
  for (LaneTrace& lane : trace.lanes) {
    const auto late = factors.find(lane.sm);
    if (late != factors.end()) delay(lane, late->second);
  }
}

}  // namespace

void prepare_to_lose_gpus() { gone_die(); }

SimDevice::SimDevice(FaultyModel faulty, std::uint64_t seed_of_die, std::vector<LinkedPeer> peers)
    : model_(std::move(faulty.model)),
      faults_(std::move(faulty.faults)),
      die_(make_die(model_, faults_, seed_of_die)),
      peers_(std::move(peers)),
      memory_(model_, die_) {
  if (gone_die() == die_.seed + 1) {
    throw DeviceError(
        fmt::format("{} (the driver does not find it any more) look at dmesg", gone_mark));
  }
  die_.info.foreign_processes = has_neighbour() ? 1 : 0;
}

double SimDevice::throttle_factor() const {
  return faults_.clock_factor *
         (has_begun(faults_.clock_drop_launch) ? faults_.clock_drop_factor : 1);
}

double SimDevice::sink_factor() const {
  return std::pow(faults_.clock_sink_factor, static_cast<double>(draw_));
}

double SimDevice::temperature_c() const {
  if (throttle_factor() < 1) return hot_temperature_c;
  const double warmed = std::min(1.0, (1 - sink_factor()) / hot_sink_fraction);
  return cool_temperature_c + warmed * (hot_temperature_c - cool_temperature_c);
}

Health SimDevice::health() {
  if (has_begun(faults_.gone_launch)) return {};
  const bool throttled = throttle_factor() < 1;
  const std::uint64_t risen =
      has_begun(faults_.ecc_rising_launch) ? launches_ - faults_.ecc_rising_launch + 1 : 0;
  return {.temperature_c = temperature_c(),
          .power_w = power_w,
          .sm_clock_hz = sm_clock_hz(),
          .memory_clock_hz = die_.info.memory_clock_hz,
          .throttle_reasons = throttled ? thermal_slowdown : 0,
          .ecc_corrected = faults_.ecc_corrected + risen,
          .foreign_processes = has_neighbour() ? 1 : 0};
}

PeerLink SimDevice::link_to(const std::string& peer_uuid) {
  return find_link(peers_, peer_uuid).nvlink ? PeerLink::nvlink : PeerLink::pcie;
}

std::string SimDevice::machine_code(const std::string& op) {
  return model_.units.pipelines ? model_.units.pipelines->machine_code(op) : "";
}

Links SimDevice::links() {
  if (has_begun(faults_.gone_launch) || !model_.units.host) return {};
  Links links{.pcie = pcie_link(*model_.units.host, faults_), .nvlinks = {}};
  links.pcie.replays = faults_.pcie_replays * launches_;
  for (int number = 0; number < model_.units.host->nvlinks; ++number) {
    const auto is_among = [number](const std::vector<int>& links_with_fault) {
      return std::ranges::find(links_with_fault, number) != links_with_fault.end();
    };
    links.nvlinks.push_back({.number = number,
                             .active = !is_among(faults_.nvlinks_down),
                             .crc_errors = is_among(faults_.nvlinks_with_errors) ? launches_ : 0,
                             .replays = 0,
                             .recoveries = 0});
  }
  return links;
}

XidLog SimDevice::xids() {
  XidLog log;
  for (const LoggedXid& xid : faults_.xids) {
    if (launches_ >= xid.launch) log.codes.push_back(xid.code);
  }
  if (!model_.units.host) log.unreadable = "the model declares no link to the host";
  return log;
}

std::vector<int> SimDevice::register_counts() {
  std::vector<int> counts(most_registers - least_registers + 1);
  std::iota(counts.begin(), counts.end(), least_registers);
  return counts;
}

void SimDevice::begin_job() {
  launches_of_job_ = 0;
  now_ns_ = 0;
}

void SimDevice::meet_faults() {
  if (has_begun(faults_.gone_launch)) gone_die() = die_.seed + 1;
  if (launches_ == faults_.crash_launch) crash();
  if (has_begun(faults_.gone_launch)) {
    throw DeviceLostError(fmt::format("{} (it no longer answers) look at dmesg", gone_mark));
  }
  if (launches_ == faults_.hang_launch && !lost_) {
    lost_ = true;
    std::this_thread::sleep_for(std::chrono::duration<double>(model_.watchdog_s));
    throw DeviceLostError(
        fmt::format("the kernel did not end in time ({}) drain it and reset it", hang_mark));
  }
  if (lost_ || has_begun(faults_.sticky_launch)) {
    lost_ = true;
    throw DeviceLostError(fmt::format(
        "illegal state of the GPU ({}, no launch can work any more) reset it", sticky_error_mark));
  }
  if (launches_ == faults_.failing_launch) {
    throw DeviceError("launching the kernel failed (an error of this launch alone)");
  }
}

Faults SimDevice::faults_now() const {
  Faults faults = faults_;
  if (draw_ == 0) faults.bandwidth_factor *= faults.bandwidth_dip_factor;
  if (!has_neighbour()) faults.neighbour.reset();
  if (faults.neighbour) faults.bandwidth_factor *= 1 - faults.neighbour->share;
  return faults;
}

Trace SimDevice::play(const ProbeSpec& spec) {
  ++launches_;
  ++launches_of_job_;
  meet_faults();
  const std::string draw = draw_ == 0 ? "" : "draw " + std::to_string(draw_) + " ";
  const std::uint64_t seed =
      derive_seed(die_.seed, draw + "launch " + std::to_string(launches_of_job_));
  const Faults faults = faults_now();
  memory_.share_with(faults.neighbour, seed);
  const Launch launch{.model = model_,
                      .faults = faults,
                      .die = die_,
                      .peers = peers_,
                      .memory = memory_,
                      .sm_clock_hz = sm_clock_hz(),
                      .now_ns = now_ns_,
                      .number = launches_of_job_,
                      .seed = seed};
  const auto start = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  Trace trace = std::visit([&launch](const auto& probe) { return sim::play(launch, probe); }, spec);
  if (faults.neighbour) {
    share_sms(*faults.neighbour, die_.info.sm_count, die_.seed, seed, trace);
  }
  const Health now = health();
  trace.conditions = {.sm_clock_hz = now.sm_clock_hz,
                      .memory_clock_hz = now.memory_clock_hz,
                      .temperature_c = now.temperature_c,
                      .throttle_reasons = now.throttle_reasons,
                      .seed = seed,
                      .start_unix_ns = start.count()};
  if (has_begun(faults_.nan_launch)) spoil_with_nan(trace);
  const double busy_ns = launch_ns + longest_ns(trace, sm_clock_hz());
  trace.device_s = busy_ns * 1e-9;
  now_ns_ += busy_ns;
  return trace;
}

}  // namespace sonde::sim
