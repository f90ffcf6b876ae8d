// Times atomics to every step of one large page from several SMs. The two groups of latencies are
// the partitions; the home of each step is fitted by an index function.
#include "jobs/cache/l2_partitions.hpp"

#include "analysis/structure/index/index_search.hpp"
#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

// Published hashes choose the partition by blocks of 4 KiB, which an eighth of that resolves.
constexpr std::uint64_t step_bytes = 512;
constexpr std::uint64_t passes = 3;

/// Latencies of atomics from one SM to every step of one large page: within it, physical memory is
/// contiguous; beyond it, the function of the virtual address ends.
std::vector<double> measure_atomics(JobRun& run, int sm) {
  ChaseSetup setup = set_up_chase(run, LoadPath::atomic, RecordSpace::longest);
  setup.sm = sm;
  setup.buffer_bytes = large_page_bytes;
  const ChasePlan plan{.offsets = shuffled_order(large_page_bytes, step_bytes, run.seed()),
                       .passes = passes};
  const std::vector<double> shuffled = position_medians(
      measure_chase(run, setup, fmt::format("cache.l2 partitions SM {}", sm), plan));
  std::vector<double> latencies(shuffled.size());
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    latencies[plan.offsets[i] / step_bytes] = shuffled[i];
  }
  return latencies;
}

/// At most sixteen SMs from all over the chip, so that both partitions have SMs.
std::vector<int> sms_all_over(const JobRun& run) {
  // The distance from an SM to the L2 differs by up to a tenth. If there are seven GPCs, every
  // seventh SM may lie in the same GPC.
  constexpr std::size_t asked_sms = 16;
  const auto sm_count = static_cast<std::size_t>(run.info().sm_count);
  std::vector<int> sms;
  for (std::size_t i = 0; i < std::min(asked_sms, sm_count); ++i)
    sms.push_back(draw_replicate(run, "SMs all over", i).sm);
  return sms;
}

void report_function(JobRun& run, const std::vector<double>& latencies, double middle_cycles) {
  std::vector<PlacedLine> lines;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    lines.push_back({i * step_bytes, latencies[i] > middle_cycles ? 1u : 0u});
  }
  const IndexFunction home = fit_index_function(lines, step_bytes);
  if (home.kind == IndexKind::unresolved) {
    return run.report(not_resolvable("cache.l2.home_function", home.reason));
  }
  run.report(found("cache.l2.home_function", describe(home), home.agreement, lines.size()),
             fmt::format("home of each of {} places of one page of {}", lines.size(),
                         format_bytes(large_page_bytes)));
}

}  // namespace

void report_one_part(JobRun& run, const std::string& reason) {
  run.report(not_present("cache.l2.segment_bytes", reason));
  run.report(not_present("cache.l2.far_hit_latency_cycles", reason));
}

void report_l2_partitions(JobRun& run) {
  std::vector<std::vector<double>> latencies;
  const auto refusal = refusal_of([&] {
    for (const int sm : sms_all_over(run)) latencies.push_back(measure_atomics(run, sm));
  });
  const auto report_none = [&run](Status status, const std::string& reason) {
    run.report_rest("cache.l2.atomic_", status, reason);
    run.report_rest("cache.l2.home_", status, reason);
  };
  if (refusal) return report_none(Status::not_resolvable, *refusal);
  const auto partitions = split_near_far(latencies);
  // The step of the clock and slices of one partition also separate latencies.
  if (!partitions ||
      partitions->far_cycles - partitions->near_cycles < least_partition_gap_cycles) {
    return report_none(Status::not_present,
                       "atomics to all lines of a page take the same time: one partition");
  }
  const std::uint64_t samples = latencies.size() * latencies.front().size();
  run.report(found("cache.l2.atomic_near_cycles", partitions->near_cycles, 1, samples));
  run.report(found("cache.l2.atomic_far_cycles", partitions->far_cycles, 1, samples));
  run.report(found("cache.l2.home_near_fraction", partitions->near_fraction, 1, samples));
  report_function(run, latencies.front(), (partitions->near_cycles + partitions->far_cycles) / 2);
}

namespace {

/// Two neighbouring lines at random places; the first line brings the translation of the second.
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

/// Latencies on `sm` of the second line of each place, after `loader` has loaded all lines through
/// the same path.
std::vector<double> measure_loaded(const CacheUnderTest& cache, const Offsets& lines, int loader,
                                   int sm) {
  constexpr std::size_t measured_passes = 3;
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
  for (std::size_t pass = 0; pass < measured_passes; ++pass) {
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

/// @param sms at least two; the last one is the first loader
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
  // Four of 97 looks at H100s saw only one partition (2026-11-26).
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
