// Atomics to every step of one large page, from a few SMs; the two groups of latencies are the
// partitions, and the home of each step goes through the fit of index functions.
#include "jobs/cache/l2_partitions.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/index/index_search.hpp"
#include "analysis/structure/latency/latency_gaps.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// Lines of some pages all over the memory, a few KB in a row of each: a partition may be the home
/// of whole pages, and translations of so few lines are at hand.
Offsets choose_lines_of_pages(const JobRun& run) {
  constexpr std::uint64_t blocks = 16;
  constexpr std::uint64_t most_bytes = 1_GiB;
  const std::uint64_t pages = std::min(most_bytes, run.info().memory_bytes / 4) / large_page_bytes;
  Random random(derive_seed(run.seed(), "lines of pages"));
  Offsets offsets;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const std::uint64_t start_bytes =
        random.below(pages) * large_page_bytes +
        random.below(large_page_bytes / smallest_page_bytes) * smallest_page_bytes;
    for (std::uint64_t line : shuffled_order(smallest_page_bytes, common_line_bytes, block))
      offsets.push_back(start_bytes + line);
  }
  return offsets;
}

/// The same to lines of pages all over the memory, in the order in which they are asked for.
std::vector<double> measure_atomics_of_pages(JobRun& run, int sm) {
  ChaseSetup setup = set_up_chase(run, LoadPath::atomic, RecordSpace::longest);
  setup.sm = sm;
  const ChasePlan plan{.offsets = choose_lines_of_pages(run), .passes = passes};
  return position_medians(
      measure_chase(run, setup, fmt::format("cache.l2 partitions of pages SM {}", sm), plan));
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

bool l2_is_divided(const JobRun& run) {
  return run.number("cache.l2.far_hit_latency_cycles").has_value() ||
         run.number("cache.l2.atomic_far_cycles").has_value();
}

void report_one_part(JobRun& run, const std::string& reason) {
  run.report(not_present("cache.l2.segment_bytes", reason));
  run.report(not_present("cache.l2.far_hit_latency_cycles", reason));
}

std::optional<std::string> report_parts_without_copies(const CacheUnderTest& cache,
                                                       std::uint64_t size_bytes) {
  JobRun& run = cache.run;
  constexpr std::uint64_t passes = 5;
  const ChasePlan plan{.offsets = choose_lines_of_pages(run), .warmup_passes = 2, .passes = passes};
  std::vector<std::vector<double>> hits_of_sm;
  const std::vector<int> sms = sms_all_over(run);
  const auto hits_on = [&](int sm, const ChasePlan& lines) {
    ChaseSetup setup = cache.chase;
    setup.sm = sm;
    return position_medians(measure_chase(run, setup, "cache.l2 partition hits", lines));
  };
  for (const int sm : sms) hits_of_sm.push_back(hits_on(sm, plan));
  const auto sides = split_sides(hits_of_sm);
  if (!sides) return std::nullopt;
  run.report(not_present("cache.l2.segment_bytes",
                         "each line is in one partition, for all SMs: there are no copies"));
  const std::uint64_t step_bytes =
      std::max(common_line_bytes, std::min(smallest_page_bytes, size_bytes / 256));
  const ChasePlan row{.offsets = shuffled_order(size_bytes / 2, step_bytes, run.seed()),
                      .warmup_passes = 2,
                      .passes = passes};
  bool is_uneven = false;
  std::vector<std::vector<double>> far_hits_of_sm;
  for (std::size_t i = 0; i < sms.size(); ++i) {
    const double bound_cycles = (sides->near_by_sm[i] + sides->far_by_sm[i]) / 2;
    if (std::isnan(bound_cycles)) continue;
    const auto far_share = [&](const std::vector<double>& hits) {
      return fraction_above({hits.size(), hits}, bound_cycles);
    };
    constexpr double most_apart = 0.2;
    is_uneven |= std::abs(far_share(hits_on(sms[i], row)) - far_share(hits_of_sm[i])) > most_apart;
    std::erase_if(hits_of_sm[i], [&](double cycles) { return cycles < bound_cycles; });
    far_hits_of_sm.push_back(std::move(hits_of_sm[i]));
  }
  run.report(
      found_replicated("cache.l2.far_hit_latency_cycles", summarize_replicates(far_hits_of_sm)));
  if (!is_uneven) return "";
  return "the lines of a footprint in a row lie in one partition more than others: the home of a "
         "line is that of its page, or of many";
}

namespace {

void report_atomics(JobRun& run, const NearFar& partitions, std::uint64_t samples) {
  run.report(found("cache.l2.atomic_near_cycles", partitions.near_cycles, 1, samples));
  run.report(found("cache.l2.atomic_far_cycles", partitions.far_cycles, 1, samples));
  run.report(found("cache.l2.home_near_fraction", partitions.near_fraction, 1, samples));
}

/// Of partitions that are the home of whole pages.
/// @return whether there are such
bool report_homes_of_pages(JobRun& run) {
  std::vector<std::vector<double>> latencies;
  for (const int sm : sms_all_over(run)) latencies.push_back(measure_atomics_of_pages(run, sm));
  const auto partitions = split_sides(latencies);
  if (!partitions) return false;
  report_atomics(run, *partitions, latencies.size() * latencies.front().size());
  run.report(not_resolvable("cache.l2.home_function",
                            "all lines of a page have one home: it goes by the physical address, "
                            "which differs from page to page"));
  return true;
}

}  // namespace

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
    if (report_homes_of_pages(run)) return;
    return report_none(Status::not_present,
                       "atomics to all lines of a page, and of pages all over the memory, take one "
                       "time: one partition");
  }
  report_atomics(run, *partitions, latencies.size() * latencies.front().size());
  report_function(run, latencies.front(), (partitions->near_cycles + partitions->far_cycles) / 2);
}

}  // namespace sonde
