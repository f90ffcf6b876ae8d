// Atomics to many lines, from a few SMs.
#include "jobs/cache/l2_partitions.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace sonde {
namespace {

constexpr std::array partition_metrics{"cache.l2.atomic_near_cycles", "cache.l2.atomic_far_cycles",
                                       "cache.l2.home_near_fraction", "cache.l2.home_function"};
// Physical memory is contiguous within a page of this size: beyond it the function of the virtual
// address ends.
constexpr std::uint64_t page_bytes = 2_MiB;
// Published hashes choose the side by blocks of 4 KiB; an eighth of that shows it.
constexpr std::uint64_t step_bytes = 512;
constexpr std::uint64_t passes = 3;

/// Latencies of atomics to every step of one page, by one SM.
std::vector<double> measure_atomics(JobRun& run, int sm) {
  ChaseSetup setup = set_up_chase(run, LoadPath::atomic, RecordSpace::longest);
  setup.sm = sm;
  setup.buffer_bytes = page_bytes;
  ChasePlan plan;
  plan.offsets = shuffled_order(page_bytes, step_bytes, run.seed());
  plan.passes = passes;
  const std::vector<double> shuffled =
      position_medians(measure_chase(run, setup, fmt::format("cache.l2 sides SM {}", sm), plan));
  std::vector<double> latencies(shuffled.size());
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    latencies[plan.offsets[i] / step_bytes] = shuffled[i];
  }
  return latencies;
}

/// Blocks of neighbouring steps on the same side are as large as the hash's granularity.
void report_function(JobRun& run, const std::vector<double>& latencies, double middle_cycles) {
  std::vector<PlacedLine> lines;
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    lines.push_back({i * step_bytes, latencies[i] > middle_cycles ? 1u : 0u});
  }
  const IndexFunction home = fit_index_function(lines, step_bytes);
  if (home.kind == IndexKind::unresolved) {
    run.report(not_resolvable("cache.l2.home_function", home.reason));
    return;
  }
  Finding finding = found("cache.l2.home_function", describe(home), home.agreement, lines.size());
  finding.reason = fmt::format("side of each of {} places of one page of {}", lines.size(),
                               format_bytes(page_bytes));
  run.report(std::move(finding));
}

}  // namespace

void report_no_l2_partitions(JobRun& run, const std::string& reason) {
  for (const char* metric : partition_metrics) run.report(not_present(metric, reason));
}

void report_l2_partitions(JobRun& run) {
  std::vector<std::vector<double>> latencies;
  try {
    for (int sm = 0; sm < run.info().sm_count; sm += std::max(1, run.info().sm_count / 4)) {
      latencies.push_back(measure_atomics(run, sm));
    }
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    for (const char* metric : partition_metrics) run.report(not_resolvable(metric, error.what()));
    return;
  }
  const auto sides = split_near_far(latencies);
  if (!sides) {
    report_no_l2_partitions(run, "atomics to all lines of a page take one time: one side");
    return;
  }
  const std::uint64_t samples = latencies.size() * latencies.front().size();
  run.report(found("cache.l2.atomic_near_cycles", sides->near_cycles, 1, samples));
  run.report(found("cache.l2.atomic_far_cycles", sides->far_cycles, 1, samples));
  run.report(found("cache.l2.home_near_fraction", sides->near_fraction, 1, samples));
  report_function(run, latencies.front(), (sides->near_cycles + sides->far_cycles) / 2);
}

}  // namespace sonde
