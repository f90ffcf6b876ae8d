// Atomics to every step of one large page, from a few SMs; the two groups of latencies are the
// partitions, and the home of each step goes through the fit of index functions.
#include "jobs/cache/l2_partitions.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/index/index_search.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Published hashes choose the partition by blocks of 4 KiB; an eighth of that shows it.
constexpr std::uint64_t step_bytes = 512;
constexpr std::uint64_t passes = 3;

/// Latencies of atomics to every step of one large page, by one SM: physical memory is contiguous
/// within it, beyond it the function of the virtual address ends.
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

/// Blocks of neighbouring steps with the same home are as large as the hash's granularity.
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

std::vector<int> sms_all_over(const JobRun& run) {
  // The way from an SM to the L2 differs by up to a tenth.
  constexpr int asked_sms = 16;
  const int sm_count = run.info().sm_count;
  std::vector<int> sms;
  for (int sm = 0; sm < sm_count; sm += std::max(1, sm_count / asked_sms)) sms.push_back(sm);
  return sms;
}

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
  // Steps of the clock and slices of one partition part latencies, too.
  if (!partitions ||
      partitions->far_cycles - partitions->near_cycles < least_partition_gap_cycles) {
    return report_none(Status::not_present,
                       "atomics to all lines of a page take one time: one partition");
  }
  const std::uint64_t samples = latencies.size() * latencies.front().size();
  run.report(found("cache.l2.atomic_near_cycles", partitions->near_cycles, 1, samples));
  run.report(found("cache.l2.atomic_far_cycles", partitions->far_cycles, 1, samples));
  run.report(found("cache.l2.home_near_fraction", partitions->near_fraction, 1, samples));
  report_function(run, latencies.front(), (partitions->near_cycles + partitions->far_cycles) / 2);
}

}  // namespace sonde
