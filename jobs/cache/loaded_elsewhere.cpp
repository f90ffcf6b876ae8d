// One lane loads, the next one loads the same and is timed. An SM of the loader's own partition
// finds copies of everything there, so such SMs ask again behind a loader of another one.
#include "jobs/cache/loaded_elsewhere.hpp"

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

/// Two neighbouring lines at each of these places: the first brings the translation of the second.
Offsets choose_lines(const JobRun& run, std::uint64_t look) {
  constexpr std::uint64_t places = 128;
  constexpr std::uint64_t most_bytes = 1_GiB;
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
  const auto away = std::ranges::find_if(latencies, sees_two);
  if (away == latencies.end()) return {.kind = L2Parts::one};
  const int other_loader = sms[static_cast<std::size_t>(away - latencies.begin())];
  for (std::size_t i = 0; i < sms.size(); ++i) {
    if (!sees_two(latencies[i])) latencies[i] = measure_loaded(cache, lines, other_loader, sms[i]);
  }
  latencies.push_back(measure_loaded(cache, lines, other_loader, loader));
  const auto sides = split_sides(latencies);
  if (!sides) return {.kind = L2Parts::one};
  LoadedElsewhere found{.kind = L2Parts::several};
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const double bound_cycles = (sides->near_by_sm[i] + sides->far_by_sm[i]) / 2;
    if (std::isnan(bound_cycles)) continue;
    std::erase_if(latencies[i], [&](double cycles) { return cycles < bound_cycles; });
    found.far_hits_of_sm.push_back(std::move(latencies[i]));
  }
  return found;
}

}  // namespace

LoadedElsewhere look_for_parts(const CacheUnderTest& cache) {
  // Of 97 looks at H100s four saw one part (docs/results/h100.md, 2026-11-26).
  constexpr std::uint64_t most_looks = 2;
  std::vector<int> sms = sms_all_over(cache.run);
  if (sms.size() < 2) return {};
  LoadedElsewhere found;
  for (std::uint64_t look = 0; look < most_looks && found.kind != L2Parts::several; ++look) {
    found = look_once(cache, choose_lines(cache.run, look), sms);
    std::ranges::rotate(sms, sms.begin() + 1);
  }
  return found;
}

}  // namespace sonde
