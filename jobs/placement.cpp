// Job `placement`: latencies of L1, L2, DRAM and shared memory for each SM, one SM at a time; rates
// of TPCs; units that stand out. Method: docs/methods/placement.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/access_order.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int repeats = 3;                      // of every map; a median drops one disturbed pass
constexpr std::uint64_t line_step_bytes = 256;  // two common lines, so that no fill brings the next
constexpr std::uint64_t translation_bytes = 256_KiB;  // half the smallest entry known (GT200, Wong)
constexpr std::uint64_t l1_lines = 8;                 // 2 KiB: fits into every known L1
constexpr std::uint64_t l2_pages = 4;
constexpr std::uint64_t l2_lines = 384;    // enough for both L2 partitions and many slices
constexpr std::uint64_t dram_lines = 768;  // for each SM
constexpr std::uint64_t dram_pages = 4;    // for each SM: 16 first-level TLB entries on GT200
constexpr std::uint64_t l1_loads = 128;
constexpr std::uint64_t shared_loads = 128;

struct LatencyMap {
  std::vector<std::vector<double>> lines;  // [sm][access]: medians over the passes
  std::vector<double> averages;            // [sm], to about a tenth of a cycle
  double repeat_spread_cycles = 0;         // deviation of an SM's average between passes
};

/// Runs a chase with one lane per SM, in their order, `repeats` times.
LatencyMap measure_map(JobRun& run, const std::string& label, double overhead_cycles,
                       const ProbeSpec& probe) {
  std::vector<const Trace*> traces;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    traces.push_back(&run.run(fmt::format("{}, pass {}", label, repeat), probe));
  }
  LatencyMap map;
  std::vector<double> spreads;
  for (std::size_t sm = 0; sm < traces.front()->lanes.size(); ++sm) {
    require(traces.front()->lanes[sm].sm == static_cast<int>(sm), "lanes are not in order of SMs");
    std::vector<std::vector<double>> passes;
    std::vector<double> pass_averages;
    for (const Trace* trace : traces) {
      const std::vector<std::uint32_t>& windows = trace->lanes[sm].window_cycles;
      passes.emplace_back(windows.begin(), windows.end());
      pass_averages.push_back(precise_latency_cycles(windows, overhead_cycles));
    }
    std::vector<double> latencies = medians_by_place(passes);
    for (double& cycles : latencies) cycles -= overhead_cycles;
    spreads.push_back(normal_scale * median_absolute_deviation(pass_averages));
    map.averages.push_back(trimmed_mean(latencies, 0.1));
    map.lines.push_back(std::move(latencies));
  }
  map.repeat_spread_cycles = median(std::move(spreads));
  return map;
}

/// A chase with one lane at a time, so that no SM disturbs another.
ChaseProbe make_chase(std::uint64_t buffer_bytes, std::vector<ChaseLane> lanes,
                      std::uint64_t warmup_accesses, std::uint64_t timed_accesses) {
  ChaseProbe probe;
  probe.buffer_bytes = buffer_bytes;
  probe.lanes = std::move(lanes);
  probe.warmup_accesses = warmup_accesses;
  probe.timed_accesses = probe.recorded_accesses = timed_accesses;
  probe.concurrency = Concurrency::in_turn;
  return probe;
}

/// Reports a map as placement.<level>_latency_cycles.
void report_map(JobRun& run, const std::string& level, const LatencyMap& map) {
  const std::uint64_t samples = repeats * map.lines.size() * map.lines.front().size();
  run.report(found(fmt::format("placement.{}_latency_cycles", level), map.averages, 1, samples,
                   map.repeat_spread_cycles));
}

/// Caches of other paths. For first-level caches a span that fits into every known one; for
/// second-level caches a multiple of the size of the first-level cache.
struct PathMap {
  const char* level;
  LoadPath path;
  std::uint64_t step_bytes;
  std::uint64_t span_bytes;
  const char* first = nullptr;  // first-level cache of a second-level map
  const char* second = nullptr;
  double first_sizes = 0;
};
constexpr PathMap path_maps[]{
    {"texture", LoadPath::texture_1d, line_step_bytes, l1_lines* line_step_bytes},
    {"constant", LoadPath::constant, 64, 512},  // a quarter of the smallest (2 KiB: Wong 2010)
    {"code", LoadPath::instruction, code_block_bytes, l1_lines* code_block_bytes},
    {"constant_l2", LoadPath::constant, 64, 0, "cache.constant_l1", "cache.constant_l2", 4},
    {"code_l1", LoadPath::instruction, code_block_bytes, 0, "cache.instruction_l0",
     "cache.instruction_l1", 2}};

void report_path_map(JobRun& run, const PathMap& asked, double overhead_cycles) {
  const std::string metric = fmt::format("placement.{}_latency_cycles", asked.level);
  std::uint64_t span_bytes = asked.span_bytes;
  std::uint64_t warmup_accesses = 4 * l1_lines;
  std::uint64_t timed_accesses = l1_loads;
  if (asked.second != nullptr) {
    const auto first_bytes = run.number(fmt::format("{}.size_bytes", asked.first));
    const auto hit_cycles = run.number(fmt::format("{}.hit_latency_cycles", asked.second));
    if (!first_bytes || !hit_cycles) {
      return run.leave_open(metric,
                            fmt::format("{} and {} are not both known", asked.first, asked.second));
    }
    timed_accesses =
        static_cast<std::uint64_t>(asked.first_sizes * *first_bytes) / asked.step_bytes;
    warmup_accesses = 2 * timed_accesses;
    span_bytes = timed_accesses * asked.step_bytes;
  }
  const auto lanes =
      lanes_of_all_sms(run, asked.path, ascending_order(span_bytes, asked.step_bytes));
  const ChaseProbe probe = make_chase(span_bytes, lanes, warmup_accesses, timed_accesses);
  const auto refusal = refusal_of([&] {
    report_map(run, asked.level,
               measure_map(run, fmt::format("{} by SM", asked.level), overhead_cycles, probe));
  });
  if (!refusal) return;
  run.report(asked.second == nullptr ? not_present(metric, *refusal)
                                     : not_resolvable(metric, *refusal));
}

/// Random lines, one in each step over some pages, in random order.
LatencyMap measure_l2(JobRun& run, double overhead_cycles) {
  constexpr std::uint64_t span_bytes = l2_pages * large_page_bytes;
  constexpr std::uint64_t step_bytes = span_bytes / l2_lines / line_step_bytes * line_step_bytes;
  Random random(derive_seed(run.seed(), "l2 lines"));
  Offsets offsets = ascending_order(l2_lines * step_bytes, step_bytes);
  for (std::uint64_t& offset : offsets) {
    offset += random.below(step_bytes / line_step_bytes) * line_step_bytes;
  }
  shuffle(offsets, random);
  return measure_map(run, "L2 by SM", overhead_cycles,
                     make_chase(span_bytes, lanes_of_all_sms(run, LoadPath::past_l1, offsets),
                                2 * l2_lines, l2_lines));
}

/// Cold lines of one SM; no line is accessed twice, or by another SM. They lie in four of as many
/// pages as there are SMs, as the distance to an SM differs by page. The SMs of a page use its
/// lines in turn.
ChaseLane make_cold_lane(int sm, std::uint64_t page_count, Random& random) {
  constexpr std::uint64_t lines_per_page = dram_lines / dram_pages;
  constexpr std::uint64_t slot_bytes = large_page_bytes / dram_lines / line_step_bytes *
                                       line_step_bytes;  // a page serves dram_pages SMs
  ChaseLane lane{.sm = sm, .offsets_bytes = {}, .path = LoadPath::past_l1};
  std::vector<std::uint64_t> cold;
  for (std::uint64_t turn = 0; turn < dram_pages; ++turn) {
    const std::uint64_t page =
        (static_cast<std::uint64_t>(sm) + turn * (page_count / dram_pages)) % page_count;
    for (std::uint64_t at = 0; at < large_page_bytes; at += translation_bytes) {
      lane.offsets_bytes.push_back(page * large_page_bytes + at + line_step_bytes / 2);
    }
    for (std::uint64_t i = 0; i < lines_per_page; ++i) {
      const std::uint64_t slot = i * dram_pages + turn;
      const std::uint64_t within = random.below(slot_bytes / line_step_bytes) * line_step_bytes;
      cold.push_back(page * large_page_bytes + slot * slot_bytes + within);
    }
  }
  shuffle(cold, random);
  lane.offsets_bytes.insert(lane.offsets_bytes.end(), cold.begin(), cold.end());
  return lane;
}

/// Untimed accesses bring the translations of a lane's pages; the timed accesses go to cold lines.
LatencyMap measure_dram(JobRun& run, double overhead_cycles) {
  Random random(derive_seed(run.seed(), "dram lines"));
  const auto sm_count = static_cast<std::uint64_t>(run.info().sm_count);
  const std::uint64_t page_count = std::max(sm_count, dram_pages);
  std::vector<ChaseLane> lanes;
  for (int sm : all_sms(run)) {
    lanes.push_back(make_cold_lane(sm, page_count, random));
  }
  ChaseProbe probe = make_chase(page_count * large_page_bytes, std::move(lanes),
                                dram_pages * large_page_bytes / translation_bytes, dram_lines);
  probe.preparation = Preparation::flushed;
  return measure_map(run, "DRAM by SM", overhead_cycles, probe);
}

/// If loads of a level are as slow as those of the next, the path does not have the level.
bool is_own_level(const LatencyMap& level, const LatencyMap& next) {
  return median(level.averages) < 0.9 * median(next.averages);
}

void report_near_far(JobRun& run, const std::string& level, const LatencyMap& map) {
  const std::string prefix = fmt::format("placement.{}_", level);
  const auto partitions = split_near_far(map.lines);
  if (!partitions) {
    return run.leave_open(prefix, "the lines that an SM accesses show one group of latencies");
  }
  const std::uint64_t samples = map.lines.size() * map.lines.front().size();
  run.report(prefix + "near_cycles", partitions->near_cycles, samples);
  run.report(prefix + "far_cycles", partitions->far_cycles, samples);
  run.report(found(prefix + "near_by_sm_cycles", partitions->near_by_sm, 1, samples,
                   map.repeat_spread_cycles));
  run.report(found(prefix + "far_by_sm_cycles", partitions->far_by_sm, 1, samples,
                   map.repeat_spread_cycles));
}

void report_latencies(JobRun& run) {
  const double overhead_cycles = window_overhead_cycles(run);
  const LatencyMap l2 = measure_l2(run, overhead_cycles);
  const Offsets l1_offsets = ascending_order(l1_lines * line_step_bytes, line_step_bytes);
  const LatencyMap l1 = measure_map(
      run, "L1 by SM", overhead_cycles,
      make_chase(l1_lines * line_step_bytes,
                 lanes_of_all_sms(run, LoadPath::all_levels, l1_offsets), 4 * l1_lines, l1_loads));
  const LatencyMap dram = measure_dram(run, overhead_cycles);
  const LatencyMap shared =
      measure_map(run, "shared memory by SM", overhead_cycles,
                  SharedChaseProbe{{0}, 4, BankMode::four_bytes, shared_loads, all_sms(run)});

  report_map(run, "dram", dram);
  report_near_far(run, "dram", dram);
  report_map(run, "shared", shared);
  for (const PathMap& asked : path_maps) report_path_map(run, asked, overhead_cycles);
  if (is_own_level(l2, dram)) {
    report_map(run, "l2", l2);
    report_near_far(run, "l2", l2);
  } else {
    run.report_rest("placement.l2_", Status::not_present,
                    "repeated loads are as slow as cold ones: no L2 serves them");
  }
  if (is_own_level(l1, l2)) {
    report_map(run, "l1", l1);
  } else {
    run.report_rest("placement.l1_", Status::not_present,
                    "ca loads are as slow as cg loads: no L1 serves them");
  }
}

}  // namespace

void run_placement(JobRun& run) {
  report_latencies(run);
  report_slow_units(run);
}

}  // namespace sonde
