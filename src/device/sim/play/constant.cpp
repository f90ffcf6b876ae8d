// Streams of constants on a simulated GPU: a few rows of every thread go through the queue, the
// others follow at their pace.
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/sim/cores/constant_queue.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde::sim {
namespace {

// Loads of an SM that are played, if each of its threads then makes eight rows at least: a queue as
// small as this has settled well before.
constexpr std::uint64_t played_loads = 512;
constexpr std::uint64_t fewest_rows = 8;

void check_fits(const Launch& launch, const ConstantStreamProbe& probe) {
  launch.memory.path(LoadPath::constant);
  declared(launch.model.units.constants, "rates of constants");
  const int most = launch.die.info.max_threads_per_block / static_cast<int>(warp_threads);
  if (probe.warps > most) {
    throw DeviceError("a constant stream has " + std::to_string(probe.warps) +
                      " warps in a block (at most " + std::to_string(most) +
                      " fit), ask for fewer");
  }
}

/// Loads of each thread that are played: an even number of rows.
std::uint64_t choose_played(const ConstantStreamProbe& probe) {
  const auto threads =
      static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.warp_threads);
  constexpr std::uint64_t two_rows = 2 * constant_loads_in_flight;
  const std::uint64_t wanted =
      std::max(played_loads / threads, fewest_rows * constant_loads_in_flight);
  return std::max(two_rows, std::min(wanted, probe.accesses) / two_rows * two_rows);
}

/// Whether SMs cannot meet in any cache of constants: then those that lie equally far from them do
/// the same.
bool are_apart(const Launch& launch, const PathModel& path) {
  return std::ranges::all_of(path.caches, [&](std::size_t place) {
    const CacheModel& cache = launch.model.caches[place];
    return cache.scope == Scope::sm || cache.addressing == Addressing::physical_address;
  });
}

/// How far an SM lies from its caches.
std::vector<std::int64_t> distances_of(const Launch& launch, const PathModel& path, int sm) {
  const auto at = static_cast<std::size_t>(sm);
  std::vector<std::int64_t> cycles{launch.die.slow_sm_cycles[at]};
  for (std::size_t place : path.caches) {
    cycles.push_back(launch.die.cache_offset_cycles[place][at]);
  }
  return cycles;
}

/// When the loads of each SM of the probe were answered, of which each thread made `played`.
std::vector<ConstantTimes> play_queue(const Launch& launch, const ConstantStreamProbe& probe,
                                      std::uint64_t played) {
  const PathModel& path = launch.memory.path(LoadPath::constant);
  const auto run = [&](const std::vector<int>& sms) {
    return ConstantQueue(launch.model, launch.die, probe, sms, launch.seed).run(played);
  };
  if (!are_apart(launch, path)) return run(probe.sms);
  std::map<std::vector<std::int64_t>, ConstantTimes> by_distance;
  std::vector<ConstantTimes> times;
  for (int sm : probe.sms) {
    const auto [found, is_new] = by_distance.try_emplace(distances_of(launch, path, sm));
    if (is_new) found->second = run({sm}).front();
    times.push_back(found->second);
  }
  return times;
}

}  // namespace

Trace play(const Launch& launch, const ConstantStreamProbe& probe) {
  check_data(launch);
  check_fits(launch, probe);
  const std::uint64_t played = choose_played(probe);
  const std::vector<ConstantTimes> times = play_queue(launch, probe, played);
  const auto threads =
      static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.warp_threads);
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.shared_carveout_bytes = choose_carveout(launch.die.info, 0, {});
  for (std::size_t i = 0; i < probe.sms.size(); ++i) {
    const ConstantTimes& own = times[i];
    const double pace = (own.whole - own.half) / (static_cast<double>(played) / 2);
    const double more = static_cast<double>(probe.accesses) - static_cast<double>(played);
    const double cycles = (own.whole + pace * more) * (1 + repeat_spread * noise.bell());
    LaneTrace& lane = add_lane(trace, probe.sms[i]);
    lane.elapsed_cycles = static_cast<std::uint64_t>(std::llround(cycles));
    lane.accesses = probe.accesses * threads;
  }
  return trace;
}

}  // namespace sonde::sim
