// The placement job: what each SM sees. Latency of L1, L2, DRAM and shared memory SM by SM, one SM
// at a time; which SMs form TPCs and GPCs; the SM that stands out (docs/methods/placement.md).
#include "analysis/statistics.hpp"
#include "analysis/structure/near_far.hpp"
#include "analysis/topology.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/jobs.hpp"
#include "jobs/topology.hpp"
#include "jobs/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int repeats = 3;                      // of every map: a median drops one disturbed pass
constexpr std::uint64_t line_step_bytes = 256;  // two lines of the largest line size there is
constexpr std::uint64_t page_bytes = 2_MiB;     // of cudaMalloc memory since Fermi (Mei 2014)
constexpr std::uint64_t translation_bytes = 256_KiB;  // below what a first-level TLB entry has ever
                                                      // covered (512 KiB on GT200, Wong 2010)
constexpr std::uint64_t l1_lines = 8;                 // 2 KiB: fits into every L1 there has been
constexpr std::uint64_t l2_pages = 4;
constexpr std::uint64_t l2_lines = 384;    // both halves of an L2, many slices
constexpr std::uint64_t dram_lines = 768;  // for each SM
constexpr std::uint64_t dram_pages = 4;    // for each SM: 16 first-level TLB entries on GT200
/// Latencies of a map are means over hundreds of windows: differences below this are noise.
constexpr double map_noise_cycles = 0.25;

/// Latency of every recorded access, by SM: [sm][access].
using LatencyMap = std::vector<std::vector<double>>;

/// Runs a chase `repeats` times and takes the median of each access over them.
LatencyMap measure_map(JobRun& run, const std::string& label, double overhead_cycles,
                       const ChaseProbe& probe) {
  std::vector<const Trace*> traces;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    traces.push_back(&run.run(fmt::format("{}, pass {}", label, repeat), probe));
  }
  LatencyMap map(static_cast<std::size_t>(run.info().sm_count));
  for (std::size_t lane = 0; lane < traces.front()->lanes.size(); ++lane) {
    const LaneTrace& first = traces.front()->lanes[lane];
    std::vector<double>& latencies = map[static_cast<std::size_t>(first.sm)];
    for (std::size_t i = 0; i < first.window_cycles.size(); ++i) {
      std::vector<double> windows;
      for (const Trace* trace : traces) windows.push_back(trace->lanes[lane].window_cycles[i]);
      latencies.push_back(median(std::move(windows)) - overhead_cycles);
    }
  }
  return map;
}

/// One number for each SM, to about a tenth of a cycle.
std::vector<double> average_map(const LatencyMap& map) {
  std::vector<double> averages;
  for (const auto& latencies : map) averages.push_back(trimmed_mean(latencies, 0.1));
  return averages;
}

ChaseProbe make_chase(LoadPath path, std::uint64_t buffer_bytes) {
  ChaseProbe probe;
  probe.path = path;
  probe.buffer_bytes = buffer_bytes;
  probe.concurrency = Concurrency::in_turn;
  return probe;
}

LatencyMap measure_l1(JobRun& run, double overhead_cycles) {
  ChaseProbe probe = make_chase(LoadPath::ca, l1_lines * line_step_bytes);
  for (int sm : all_sms(run.info().sm_count)) {
    ChaseLane lane{sm, {}};
    for (std::uint64_t i = 0; i < l1_lines; ++i) lane.offsets_bytes.push_back(i * line_step_bytes);
    probe.lanes.push_back(std::move(lane));
  }
  probe.warmup_accesses = 4 * l1_lines;
  probe.timed_accesses = probe.recorded_accesses = 128;
  return measure_map(run, "L1 by SM", overhead_cycles, probe);
}

/// Lines all over `pages` pages from `base_bytes`, one in each step, in random order.
std::vector<std::uint64_t> scatter_lines(std::uint64_t base_bytes, std::uint64_t pages,
                                         std::uint64_t lines, Random& random) {
  const std::uint64_t step_bytes = pages * page_bytes / lines / line_step_bytes * line_step_bytes;
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::uint64_t within = random.below(step_bytes / line_step_bytes) * line_step_bytes;
    offsets.push_back(base_bytes + i * step_bytes + within);
  }
  shuffle(offsets, random);
  return offsets;
}

LatencyMap measure_l2(JobRun& run, double overhead_cycles) {
  Random random(derive_seed(run.seed(), "l2 lines"));
  const auto offsets = scatter_lines(0, l2_pages, l2_lines, random);
  ChaseProbe probe = make_chase(LoadPath::cg, l2_pages * page_bytes);
  for (int sm : all_sms(run.info().sm_count)) probe.lanes.push_back({sm, offsets});
  probe.warmup_accesses = 2 * l2_lines;
  probe.timed_accesses = probe.recorded_accesses = l2_lines;
  return measure_map(run, "L2 by SM", overhead_cycles, probe);
}

/// Cold lines of one SM, no line twice and none that another SM visits. They lie in four of as many
/// pages as there are SMs, since pages differ in their distance from an SM; the SMs that meet in a
/// page take turns there.
ChaseLane make_cold_lane(int sm, std::uint64_t page_count, Random& random) {
  constexpr std::uint64_t lines_per_page = dram_lines / dram_pages;
  constexpr std::uint64_t slot_bytes =
      page_bytes / dram_lines / line_step_bytes * line_step_bytes;  // a page serves dram_pages SMs
  ChaseLane lane{sm, {}};
  std::vector<std::uint64_t> cold;
  for (std::uint64_t turn = 0; turn < dram_pages; ++turn) {
    const std::uint64_t page =
        (static_cast<std::uint64_t>(sm) + turn * (page_count / dram_pages)) % page_count;
    for (std::uint64_t at = 0; at < page_bytes; at += translation_bytes) {
      lane.offsets_bytes.push_back(page * page_bytes + at + line_step_bytes / 2);
    }
    for (std::uint64_t i = 0; i < lines_per_page; ++i) {
      const std::uint64_t slot = i * dram_pages + turn;
      const std::uint64_t within = random.below(slot_bytes / line_step_bytes) * line_step_bytes;
      cold.push_back(page * page_bytes + slot * slot_bytes + within);
    }
  }
  shuffle(cold, random);
  lane.offsets_bytes.insert(lane.offsets_bytes.end(), cold.begin(), cold.end());
  return lane;
}

/// Untimed accesses bring the translations of a lane's pages, the timed ones meet its cold lines.
LatencyMap measure_dram(JobRun& run, double overhead_cycles) {
  Random random(derive_seed(run.seed(), "dram lines"));
  const auto sm_count = static_cast<std::uint64_t>(run.info().sm_count);
  const std::uint64_t page_count = std::max(sm_count, dram_pages);
  ChaseProbe probe = make_chase(LoadPath::cg, page_count * page_bytes);
  for (int sm : all_sms(run.info().sm_count)) {
    probe.lanes.push_back(make_cold_lane(sm, page_count, random));
  }
  probe.warmup_accesses = dram_pages * page_bytes / translation_bytes;
  probe.timed_accesses = probe.recorded_accesses = dram_lines;
  probe.preparation = Preparation::flushed;
  return measure_map(run, "DRAM by SM", overhead_cycles, probe);
}

std::vector<double> measure_shared(JobRun& run, double overhead_cycles) {
  const Trace& trace =
      run.run("shared memory by SM",
              SharedChaseProbe{{0}, 4, BankMode::four_bytes, 128, all_sms(run.info().sm_count)});
  std::vector<double> latencies(static_cast<std::size_t>(run.info().sm_count), NAN);
  for (const LaneTrace& lane : trace.lanes) {
    latencies[static_cast<std::size_t>(lane.sm)] =
        precise_latency_cycles(lane.window_cycles, overhead_cycles);
  }
  return latencies;
}

void report_map(JobRun& run, const std::string& metric, const std::vector<double>& latencies,
                std::uint64_t samples_per_sm) {
  run.report(found(metric, latencies, 1, samples_per_sm * latencies.size(),
                   median_absolute_deviation(latencies)));
}

/// A level whose loads are as slow as the next level's is not there for this load path.
bool is_own_level(const std::vector<double>& latencies, const std::vector<double>& next) {
  return median(latencies) < 0.9 * median(next);
}

void report_near_far(JobRun& run, const LatencyMap& map) {
  if (const auto halves = split_near_far(map)) {
    const auto lines = map.size() * l2_lines;
    run.report(found("placement.l2_near_cycles", halves->near_cycles, 1, lines));
    run.report(found("placement.l2_far_cycles", halves->far_cycles, 1, lines));
    return;
  }
  const std::string reason =
      "the lines of an SM show one group of L2 latencies (one partition, or copies in the near "
      "one)";
  run.report(not_resolvable("placement.l2_near_cycles", reason));
  run.report(not_resolvable("placement.l2_far_cycles", reason));
}

void report_latencies(JobRun& run) {
  const double overhead_cycles = window_overhead_cycles(run);
  const LatencyMap l2_map = measure_l2(run, overhead_cycles);
  const std::vector<double> l1 = average_map(measure_l1(run, overhead_cycles));
  const std::vector<double> l2 = average_map(l2_map);
  const std::vector<double> dram = average_map(measure_dram(run, overhead_cycles));
  const std::vector<double> shared = measure_shared(run, overhead_cycles);

  report_map(run, "placement.dram_latency_cycles", dram, repeats * dram_lines);
  report_map(run, "placement.shared_latency_cycles", shared, 128);
  std::vector<std::vector<double>> kinds{dram, shared};
  if (is_own_level(l2, dram)) {
    report_map(run, "placement.l2_latency_cycles", l2, repeats * l2_lines);
    report_near_far(run, l2_map);
    kinds.push_back(l2);
  } else {
    for (const char* metric :
         {"placement.l2_latency_cycles", "placement.l2_near_cycles", "placement.l2_far_cycles"}) {
      run.report(not_present(metric, "repeated loads are as slow as cold ones: no L2 serves them"));
    }
  }
  if (is_own_level(l1, l2)) {
    report_map(run, "placement.l1_latency_cycles", l1, repeats * 128);
    kinds.push_back(l1);
  } else {
    run.report(not_present("placement.l1_latency_cycles",
                           "ca loads are as slow as cg loads: no L1 serves them"));
  }
  const OutstandingSm slowest = find_slowest_sm(kinds, map_noise_cycles);
  Finding finding = found("placement.slowest_sm", static_cast<double>(slowest.sm),
                          std::clamp(slowest.score / 10, 0.0, 1.0), kinds.size());
  finding.reason = fmt::format("{:+.1f} cycles over the median, score {:.1f}",
                               slowest.excess_cycles, slowest.score);
  run.report(std::move(finding));
}

}  // namespace

void run_placement(JobRun& run) {
  report_topology(run);
  report_latencies(run);
}

}  // namespace sonde
