#include "jobs/bypass/sweep.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int most_numbers = 9;
/// Few SMs record windows, as that takes shared memory and time.
constexpr int window_sms = 4;
/// All SMs run; this many are kept in the file and used in medians.
constexpr int lane_sms = 16;
/// Carve-outs, and so L1 sizes, are multiples of 4 KiB (CUDA programming guide, compute capability
/// 7.x to 9.0); a measured size is only roughly one.
constexpr std::uint64_t size_step_bytes = 4_KiB;

TagGeometry geometry_of(const JobRun& run, std::uint64_t l1_bytes) {
  TagGeometry geometry;
  geometry.line_bytes = static_cast<std::uint64_t>(run.number("cache.l1.line_bytes").value_or(128));
  geometry.sector_bytes = static_cast<std::uint64_t>(
      run.number("cache.l1.fetch_bytes").value_or(static_cast<double>(geometry.line_bytes)));
  const std::uint64_t whole_bytes = l1_bytes / size_step_bytes * size_step_bytes;
  geometry.lines = std::max(whole_bytes, size_step_bytes) / geometry.line_bytes;
  geometry.ways = static_cast<int>(run.number("cache.l1.ways").value_or(4));
  return geometry;
}

std::string label_of(const PaperProgram& program, const ProgramProbe& probe) {
  std::string label = fmt::format("{}: {} of {} {}s use the L1", program.program.name, probe.cached,
                                  bypass_units(probe), to_text(probe.level));
  if (probe.bypass_path != BypassPath::past_l1) {
    label += fmt::format(", others by {}", to_text(probe.bypass_path));
  }
  if (probe.active_warps > 0) label += fmt::format(", {} warps at a time", probe.active_warps);
  if (probe.windows) label += ", timed load by load";
  return label;
}

/// Accesses per cycle, median over places in memory.
double performance_of(JobRun& run, const PaperProgram& program, ProgramProbe probe,
                      const SweepSetup& setup) {
  std::vector<double> values;
  for (std::size_t replicate = 0; replicate < setup.replicates; ++replicate) {
    probe.place = static_cast<Place>(replicate);
    values.push_back(accesses_per_cycle(run.run(label_of(program, probe), probe).lanes));
  }
  return median(std::move(values));
}

LoadWindows read_windows(JobRun& run, const PaperProgram& program, ProgramProbe probe) {
  probe.windows = true;
  probe.sms = spread_sms(run, window_sms);
  const int warps = block_warps(probe.program.kernels.front());
  std::vector<bool> through_l1;  // by warp of an SM
  for (int slot = 0; slot < resident_warps(probe); ++slot) {
    const int unit = probe.level == BypassLevel::warp ? slot % warps : slot / warps;
    through_l1.push_back(unit < probe.cached);
  }
  return summarize_windows(run.run(label_of(program, probe), probe).lanes, through_l1);
}

void measure_windows(JobRun& run, ProgramProbe probe, const SweepSetup& setup,
                     ProgramSweep& result) {
  // One warp of each SM at a time makes a warp's share of the accesses.
  ProgramProbe alone = probe;
  alone.sm_accesses = std::max<std::uint64_t>(
      probe.sm_accesses / static_cast<std::uint64_t>(resident_warps(probe)), 32);
  alone.active_warps = 1;
  const double alone_cycles = read_windows(run, result.program, alone).mean_cycles;
  BypassSweep& sweep = result.sweep;
  const std::size_t numbers = sweep.cached.size();
  result.congestion.assign(numbers, ProgramSweep::unknown);
  sweep.wait_cycles.assign(numbers, ProgramSweep::unknown);
  const bool every_number = result.program.taught || setup.all_windows;
  for (std::size_t at = every_number ? 0 : numbers - 1; at < numbers; ++at) {
    probe.cached = sweep.cached[at];
    const LoadWindows windows = read_windows(run, result.program, probe);
    sweep.wait_cycles[at] = windows.loads * std::max(0.0, windows.mean_cycles - alone_cycles);
    if (probe.cached > 0) result.congestion[at] = windows.mean_cycles / alone_cycles;
    result.timed_loads = windows.loads;
  }
}

/// Measures alternatives to choosing a number of units: hints, fewer warps, a larger L1.
void measure_alternatives(JobRun& run, const ProgramProbe& all_cached, const SweepSetup& setup,
                          ProgramSweep& result) {
  const auto performance = [&](const ProgramProbe& probe) {
    return performance_of(run, result.program, probe, setup);
  };
  const double base = result.sweep.performance.back();
  for (auto [path, speedup] : {std::pair{BypassPath::no_allocate, &result.no_allocate_speedup},
                               std::pair{BypassPath::evict_first, &result.evict_first_speedup}}) {
    ProgramProbe hinted = all_cached;
    hinted.cached = 0;
    hinted.bypass_path = path;
    refusal_of([&, speedup = speedup] { *speedup = performance(hinted) / base; });
  }
  // Half, a quarter and an eighth of the warps (SWL: Rogers et al., MICRO 2012).
  ProgramProbe fewer = all_cached;
  const int warps = resident_warps(all_cached);
  for (int divisor : {2, 4, 8}) {
    fewer.active_warps = warps / divisor;
    if (fewer.active_warps == 0) break;
    result.throttled_speedup = std::max(result.throttled_speedup, performance(fewer) / base);
  }
  if (!setup.large_l1_carveout_bytes) return;
  ProgramProbe large = all_cached;
  large.shared_carveout_bytes = setup.large_l1_carveout_bytes;
  const double large_base = performance(large);
  result.large_l1_speedup = 1;
  for (int cached : {0, (all_cached.cached + 1) / 2}) {
    large.cached = cached;
    result.large_l1_speedup = std::max(result.large_l1_speedup, performance(large) / large_base);
  }
}

/// The probe of a program with as many blocks as fit, all units through the L1.
ProgramProbe make_probe(const PaperProgram& program, const DeviceInfo& info,
                        const SweepSetup& setup) {
  const int block_threads =
      block_warps(program.program.kernels.front()) * static_cast<int>(warp_threads);
  ProgramProbe probe{.program = program.program, .level = program.level};
  probe.resident_blocks =
      std::clamp(info.max_threads_per_block / block_threads, 1, program.resident_blocks);
  probe.cached = bypass_units(probe);
  probe.sm_accesses = setup.sm_accesses;
  probe.lane_sms = lane_sms;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  return probe;
}

/// Windows of a warp of each SM that loads the same elements repeatedly, `thread_step` elements
/// apart.
std::vector<double> reuse_windows(JobRun& run, std::uint32_t thread_step, int cached,
                                  BypassPath path, const SweepSetup& setup) {
  ProgramKernel kernel{.grid_x = static_cast<std::uint32_t>(run.info().sm_count),
                       .inner = {.first = 256}};
  kernel.body = {{.array = 0, .per_thread_x = thread_step}};
  const PaperProgram reuse{
      .program = {.name = fmt::format("reuse_{}", thread_step),
                  .array_elements = {std::uint64_t{warp_threads} * thread_step},
                  .kernels = {kernel}}};
  ProgramProbe probe = make_probe(reuse, run.info(), setup);
  probe.cached = cached;
  probe.bypass_path = path;
  probe.windows = true;
  probe.sm_accesses = 256;
  probe.sms = spread_sms(run, window_sms);
  const std::string label = fmt::format("a warp alone, {} elements apart, {}", thread_step,
                                        cached > 0 ? "through the L1" : to_text(path));
  return latencies_of(run.run(label, probe), 0);
}

constexpr std::uint32_t line_elements = 32;  // of 128 bytes: each thread has its own line

}  // namespace

SweepSetup make_setup(const JobRun& run, double size_bytes) {
  const auto only_bytes = static_cast<std::uint64_t>(size_bytes);
  SweepSetup setup;
  setup.l1_bytes = setup.large_l1_bytes = only_bytes;
  const auto carveouts = run.vector("cache.l1.carveout_bytes");
  const auto sizes = run.vector("cache.l1.size_by_carveout_bytes");
  const bool has_choice = carveouts && sizes && sizes->size() == carveouts->size();
  for (std::size_t at = 0; has_choice && at < sizes->size(); ++at) {
    const auto bytes = static_cast<std::uint64_t>((*sizes)[at]);
    const auto carveout = static_cast<std::uint64_t>((*carveouts)[at]);
    if (bytes > 0 && (!setup.shared_carveout_bytes || bytes < setup.l1_bytes)) {
      setup.l1_bytes = bytes;
      setup.shared_carveout_bytes = carveout;
    }
    if (!setup.large_l1_carveout_bytes || bytes > setup.large_l1_bytes) {
      setup.large_l1_bytes = bytes;
      setup.large_l1_carveout_bytes = carveout;
    }
  }
  if (setup.large_l1_bytes <= setup.l1_bytes) setup.large_l1_carveout_bytes.reset();
  const bool full = run.level() == SuiteLevel::full;
  setup.l1 = geometry_of(run, setup.l1_bytes);
  setup.sm_accesses = full ? 16000 : 2000;
  setup.replicates = full ? 4 : 2;
  setup.all_windows = full;
  return setup;
}

bool calibrate(JobRun& run, SweepSetup& setup) {
  const auto typical = [&](std::uint32_t step, int cached) {
    return median(reuse_windows(run, step, cached, BypassPath::past_l1, setup));
  };
  const double hit = typical(1, 1);
  const double longest_hit = typical(line_elements, 1);
  const double miss = typical(1, 0);
  setup.hit_gain_cycles = miss - hit;
  setup.threshold_cycles = (std::min(longest_hit, miss) + miss) / 2;
  return miss > hit;
}

void report_paths(JobRun& run, const SweepSetup& setup) {
  std::vector<double> fractions;
  for (BypassPath path : {BypassPath::past_l1, BypassPath::no_allocate, BypassPath::evict_first}) {
    fractions.push_back(ProgramSweep::unknown);
    refusal_of([&] {
      const auto windows = reuse_windows(run, line_elements, 0, path, setup);
      const auto hits = std::ranges::count_if(
          windows, [&](double cycles) { return cycles < setup.threshold_cycles; });
      fractions.back() = static_cast<double>(hits) / static_cast<double>(windows.size());
    });
  }
  run.report("bypass.path_hit_fractions", std::move(fractions), 3);
}

std::vector<int> cached_numbers(int units) {
  const int steps = std::min(units, most_numbers - 1);
  std::vector<int> numbers;
  for (int step = 0; step <= steps; ++step) numbers.push_back(units * step / steps);
  return numbers;
}

ProgramSweep sweep_program(JobRun& run, const PaperProgram& program, const SweepSetup& setup) {
  const ProgramProbe all_cached = make_probe(program, run.info(), setup);
  ProgramSweep result{.program = program};
  BypassSweep& sweep = result.sweep;
  sweep.cached = cached_numbers(all_cached.cached);
  sweep.hit_gain_cycles = setup.hit_gain_cycles;
  for (int cached : sweep.cached) {
    ProgramProbe some = all_cached;
    some.cached = cached;
    sweep.performance.push_back(performance_of(run, program, some, setup));
  }
  measure_alternatives(run, all_cached, setup, result);
  measure_windows(run, all_cached, setup, result);
  sweep.estimated_hits = estimate_hits(all_cached, sweep.cached, setup.l1, run.info().sm_count);
  return result;
}

}  // namespace sonde
