// One lane loads, the next one loads the same and is timed. An SM of the loader's own partition
// finds copies of everything there, so such SMs ask again behind a loader of another one.
#include "jobs/cache/loaded_elsewhere.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/l2_partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr std::uint64_t longest_fetch_bytes = 512;  // lines further apart come one by one

constexpr std::uint64_t most_places = 128;

/// Two neighbouring lines at each of these places: the first brings the translation of the second.
Offsets choose_lines(const JobRun& run, std::uint64_t places, std::uint64_t most_bytes,
                     std::uint64_t look = 0) {
  constexpr std::uint64_t place_bytes = 2 * longest_fetch_bytes;
  const std::uint64_t span_bytes = std::min(most_bytes, run.info().memory_bytes / 4);
  Random random(derive_seed(run.seed(), fmt::format("lines loaded elsewhere {}", look)));
  Offsets offsets;
  for (std::uint64_t place = 0; place < places; ++place) {
    const std::uint64_t start_bytes = random.below(span_bytes / place_bytes) * place_bytes;
    const std::uint64_t second = random.below(2);
    offsets.push_back(start_bytes + (1 - second) * longest_fetch_bytes);
    offsets.push_back(start_bytes + second * longest_fetch_bytes);
  }
  return offsets;
}

/// Latencies on `sm` of lines that `loader` has just loaded through the same path, of the second of
/// each place.
std::vector<double> measure_loaded(const CacheUnderTest& cache, const Offsets& lines, int loader,
                                   int sm) {
  constexpr std::size_t passes = 3;
  ChaseProbe probe;
  probe.buffer_bytes = std::ranges::max(lines) + longest_fetch_bytes;
  probe.place = cache.chase.place;
  probe.timed_accesses = probe.recorded_accesses = lines.size();
  probe.concurrency = Concurrency::in_turn;
  probe.preparation = Preparation::flushed;
  probe.shared_carveout_bytes = cache.chase.shared_carveout_bytes;
  const auto lane_of = [&](int lane_sm) {
    return ChaseLane{.sm = lane_sm, .offsets_bytes = lines, .path = cache.chase.path};
  };
  probe.lanes = {lane_of(loader), lane_of(sm)};
  ChaseLatencies seen{lines.size(), {}};
  const std::string label = fmt::format("{} loaded by SM {}, then SM {}", cache.name, loader, sm);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const Trace& trace = cache.run.run(label, probe);
    for (const std::uint32_t window : trace.lanes.back().window_cycles)
      seen.cycles.push_back(window - cache.chase.overhead_cycles);
  }
  const std::vector<double> of_all = position_medians(seen);
  std::vector<double> seconds;
  for (std::size_t i = 1; i < of_all.size(); i += 2) seconds.push_back(of_all[i]);
  return seconds;
}

bool sees_two(const std::vector<double>& latencies) {
  const auto groups = split_near_far({&latencies, 1});
  return groups && groups->far_cycles - groups->near_cycles >= least_partition_gap_cycles;
}

/// @param sms at least two; the last one loads first
LoadedElsewhere look_once(const CacheUnderTest& cache, const Offsets& lines, std::vector<int> sms) {
  const int loader = sms.back();
  sms.pop_back();
  std::vector<std::vector<double>> latencies;
  for (const int sm : sms) latencies.push_back(measure_loaded(cache, lines, loader, sm));
  const std::vector<std::vector<double>> of_all = latencies;
  const auto away = std::ranges::find_if(latencies, sees_two);
  if (away == latencies.end()) return {.kind = L2Parts::one, .cycles_of_sm = of_all};
  const int other_loader = sms[static_cast<std::size_t>(away - latencies.begin())];
  for (std::size_t i = 0; i < sms.size(); ++i) {
    if (!sees_two(latencies[i])) latencies[i] = measure_loaded(cache, lines, other_loader, sms[i]);
  }
  latencies.push_back(measure_loaded(cache, lines, other_loader, loader));
  const auto sides = split_sides(latencies);
  if (!sides) return {.kind = L2Parts::one, .cycles_of_sm = of_all};
  LoadedElsewhere found{.kind = L2Parts::several,
                        .partitions = count_sides(latencies, *sides),
                        .cycles_of_sm = of_all};
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const double bound_cycles = (sides->near_by_sm[i] + sides->far_by_sm[i]) / 2;
    if (std::isnan(bound_cycles)) continue;
    std::erase_if(latencies[i], [&](double cycles) { return cycles < bound_cycles; });
    found.far_hits_of_sm.push_back(std::move(latencies[i]));
  }
  return found;
}

}  // namespace

std::vector<double> measure_loaded_elsewhere(const CacheUnderTest& cache,
                                             std::uint64_t most_bytes) {
  constexpr std::uint64_t fewest_places = 4;
  constexpr std::uint64_t part_of_l2 = 4;  // of its lines, if they are as long as any
  std::vector<int> sms = sms_all_over(cache.run);
  std::erase(sms, cache.chase.sm);
  const auto l2_bytes = cache.run.number("cache.l2.size_bytes");
  if (sms.empty() || !l2_bytes) return {};
  const std::uint64_t l2_lines = static_cast<std::uint64_t>(*l2_bytes) / longest_fetch_bytes;
  const std::uint64_t places = std::clamp(l2_lines / part_of_l2 / 2, fewest_places, most_places);
  return measure_loaded(cache, choose_lines(cache.run, places, most_bytes), sms.back(),
                        cache.chase.sm);
}

LoadedElsewhere look_for_parts(const CacheUnderTest& cache) {
  constexpr std::uint64_t most_bytes = 1_GiB;
  // Of 97 looks at H100s four saw one part (docs/results/2026-11-26-tlb-again).
  constexpr std::uint64_t most_looks = 2;
  std::vector<int> sms = sms_all_over(cache.run);
  if (sms.size() < 2) return {};
  LoadedElsewhere found;
  for (std::uint64_t look = 0; look < most_looks && found.kind != L2Parts::several; ++look) {
    found = look_once(cache, choose_lines(cache.run, most_places, most_bytes, look), sms);
    std::ranges::rotate(sms, sms.begin() + 1);
  }
  return found;
}

std::optional<ServedElsewhere> later_than_own(const LoadedElsewhere& loaded,
                                              const std::vector<double>& own,
                                              const std::vector<double>& memory) {
  // Such a cache may keep some of the own lines only. Of an L2 the soonest lines are so soon for
  // all.
  const double latest_own = quantile(own, 0.25) + least_level_gap_cycles;
  const double soonest_memory = quantile(memory, 0.02) - least_memory_gap_cycles;
  for (const std::vector<double>& cycles : loaded.cycles_of_sm) {
    const double soonest = quantile(cycles, 0.1);
    if (quantile(cycles, 0.02) <= latest_own || soonest >= soonest_memory) continue;
    ServedElsewhere served;
    for (const double of_load : cycles) {
      const bool is_soon = of_load <= soonest + least_level_gap_cycles;
      if (is_soon || of_load < soonest_memory)
        (is_soon ? served.soonest : served.later).push_back(of_load);
    }
    return served;
  }
  return std::nullopt;
}

}  // namespace sonde
