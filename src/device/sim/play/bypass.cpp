// Mixes of warps that use the L1 and warps that go past it, on a simulated GPU. All SMs do the same
// work on the same addresses, so one is played and the others differ by noise.
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/sim/cores/lsu.hpp"
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

/// One warp's accesses, dependent on each other.
struct BypassWarp {
  std::vector<double> latency_cycles;
  double begin = 0;
  double end = 0;
};

/// Up to the end of the last element that a warp accesses.
std::uint64_t span_bytes(const BypassProbe& probe) {
  return static_cast<std::uint64_t>(probe.warps - 1) * probe.warp_base_step_bytes +
         probe.working_set_bytes + warp_threads * probe.thread_stride_bytes;
}

std::vector<std::uint64_t> warp_addresses(const BypassProbe& probe, std::uint64_t buffer_address,
                                          int warp, std::uint64_t access) {
  const std::uint64_t base = buffer_address +
                             static_cast<std::uint64_t>(warp) * probe.warp_base_step_bytes +
                             access * probe.access_step_bytes % probe.working_set_bytes;
  std::vector<std::uint64_t> addresses(warp_threads);
  for (std::size_t thread = 0; thread < addresses.size(); ++thread) {
    addresses[thread] = base + thread * probe.thread_stride_bytes;
  }
  return addresses;
}

/// Each warp makes `count` accesses from number `first` on; the next of a warp waits for the one
/// before, and the earliest warp goes first. @return when the last one ends
double run_warps(Lsu& lsu, const BypassProbe& probe, std::uint64_t buffer_address,
                 std::uint64_t first, std::uint64_t count, double begin,
                 std::vector<BypassWarp>& warps) {
  using Turn = std::pair<double, int>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  std::vector<std::uint64_t> made(warps.size(), 0);
  for (int warp = 0; warp < probe.warps && count > 0; ++warp) turns.emplace(begin, warp);
  double end = begin;
  while (!turns.empty()) {
    const auto [time, number] = turns.top();
    turns.pop();
    const auto at = static_cast<std::size_t>(number);
    const LoadKind kind = number < probe.cached_warps ? LoadKind::through_l1 : LoadKind::past_l1;
    const double done =
        lsu.load(time, kind, warp_addresses(probe, buffer_address, number, first + made[at]));
    BypassWarp& warp = warps[at];
    warp.latency_cycles.push_back(done - time);
    warp.end = done;
    end = std::max(end, done);
    if (++made[at] < count) turns.emplace(done, number);
  }
  return end;
}

/// The first cache of the path that belongs to an SM, and the last one if it belongs to all.
struct BypassCaches {
  const CacheModel* l1 = nullptr;
  const CacheModel* l2 = nullptr;
  LsuSurroundings around;
};

BypassCaches find_caches(const Launch& launch, std::size_t active_sms) {
  const Model& model = launch.model;
  const PathModel& through = launch.memory.path(LoadPath::all_levels);
  const PathModel& past = launch.memory.path(LoadPath::past_l1);
  BypassCaches caches;
  LsuSurroundings& around = caches.around;
  around.dram_cycles = through.dram.front();
  around.bypass_dram_cycles = past.dram.front();
  for (std::size_t use = 0; use < through.caches.size(); ++use) {
    const CacheModel& cache = model.caches[through.caches[use]];
    if (cache.scope == Scope::device || cache.scope == Scope::partition) {
      caches.l2 = &cache;
      around.l2_hit_cycles = through.hit[use].front();
      around.bypass_l2_cycles = past.hit.back().front();
    } else {
      caches.l1 = &cache;
      around.l1_hit_cycles = through.hit[use].front();
    }
  }
  const auto sharers = static_cast<double>(active_sms);
  around.l2_bytes_per_cycle = model.units.throughput.l2_bytes_per_cycle / sharers;
  around.dram_bytes_per_cycle = launch.die.info.theoretical_bytes_per_s() *
                                launch.faults.bandwidth_factor / launch.sm_clock_hz / sharers;
  return caches;
}

void add_lanes(const Launch& launch, int sm, const std::vector<BypassWarp>& warps,
               double jitter_cycles, Noise& noise, Trace& trace) {
  const std::uint32_t slow = launch.die.slow_sm_cycles[static_cast<std::size_t>(sm)];
  const std::uint32_t sink = launch.model.clock.sink_window_cycles;
  for (std::size_t i = 0; i < warps.size(); ++i) {
    LaneTrace& lane = trace.lanes.emplace_back();
    lane.sm = sm;
    lane.warp = static_cast<int>(i);
    lane.accesses = warps[i].latency_cycles.size();
    for (double latency : warps[i].latency_cycles) {
      const auto cycles = static_cast<std::uint32_t>(std::lround(latency)) + slow;
      const std::uint32_t window = noise.disturb(cycles, jitter_cycles) + sink;
      lane.window_cycles.push_back(
          std::min<std::uint32_t>(noise.read_window(window), longest_window_cycles));
    }
    lane.elapsed_cycles = static_cast<std::uint64_t>(std::llround(warps[i].end - warps[i].begin)) +
                          lane.accesses * (sink + slow);
  }
}

}  // namespace

Trace play(const Launch& launch, const BypassProbe& probe) {
  check_data(launch);
  const DeviceInfo& info = launch.die.info;
  const int most_warps = info.max_threads_per_block / static_cast<int>(warp_threads);
  if (probe.warps > most_warps) {
    throw DeviceError(std::to_string(probe.warps) + " warps do not fit into one block (at most " +
                      std::to_string(most_warps) + "), ask for fewer");
  }
  const std::vector<int> sms = probe.sms.empty() ? first_sms(info.sm_count) : probe.sms;
  const auto warp_count = static_cast<std::uint64_t>(probe.warps);
  Trace trace;
  trace.buffer_offset_bytes = buffer_offset(launch, probe.place, span_bytes(probe));
  trace.shared_carveout_bytes =
      choose_carveout(info, warp_count * probe.accesses * record_bytes + record_overhead_bytes, {});
  const BypassCaches caches = find_caches(launch, sms.size());
  const Geometry* geometry =
      caches.l1 == nullptr ? nullptr : &caches.l1->geometry_for(trace.shared_carveout_bytes);
  Lsu lsu(launch.model.units.lsu, caches.around, caches.l1, geometry, caches.l2, launch.seed);
  std::vector<BypassWarp> warps(warp_count);
  const double warm =
      run_warps(lsu, probe, trace.buffer_offset_bytes, 0, probe.warmup_accesses, 0, warps);
  warps.assign(warp_count, {.latency_cycles = {}, .begin = warm, .end = warm});
  run_warps(lsu, probe, trace.buffer_offset_bytes, probe.warmup_accesses, probe.accesses, warm,
            warps);
  Noise noise(launch.model, launch.seed);
  const double jitter_cycles =
      caches.l1 == nullptr ? launch.model.units.dram.jitter_cycles : caches.l1->jitter_cycles;
  for (int sm : sms) add_lanes(launch, sm, warps, jitter_cycles, noise, trace);
  return trace;
}

}  // namespace sonde::sim
