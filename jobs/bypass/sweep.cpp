#include "jobs/bypass/sweep.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int most_numbers = 9;
/// Windows are read on few SMs: their records take shared memory and time.
constexpr int window_sms = 4;
/// SMs whose warps go into the file, and into medians: all of them play.
constexpr int lane_sms = 16;

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

const Trace& play(JobRun& run, const PaperProgram& program, const ProgramProbe& probe) {
  return run.run(label_of(program, probe), probe);
}

/// Median over places in memory.
double performance_of(JobRun& run, const PaperProgram& program, ProgramProbe probe,
                      const SweepSetup& setup) {
  std::vector<double> values;
  for (std::size_t replicate = 0; replicate < setup.replicates; ++replicate) {
    probe.place = static_cast<Place>(replicate);
    values.push_back(accesses_per_cycle(play(run, program, probe).lanes));
  }
  return median(std::move(values));
}

/// Of the warps of an SM, those that use the L1.
std::vector<bool> cached_warps(const ProgramProbe& probe) {
  const int warps = block_warps(probe.program.kernels.front());
  std::vector<bool> cached;
  for (int slot = 0; slot < resident_warps(probe); ++slot) {
    const int unit = probe.level == BypassLevel::warp ? slot % warps : slot / warps;
    cached.push_back(unit < probe.cached);
  }
  return cached;
}

LoadWindows read_windows(JobRun& run, const PaperProgram& program, ProgramProbe probe) {
  probe.windows = true;
  probe.sms = spread_sms(run.info().sm_count, window_sms);
  const Trace& trace = play(run, program, probe);
  return summarize_windows(trace.lanes, cached_warps(probe));
}

/// One warp of an SM at a time makes a warp's part of the accesses.
LoadWindows read_alone(JobRun& run, const PaperProgram& program, ProgramProbe probe) {
  probe.sm_accesses /= static_cast<std::uint64_t>(resident_warps(probe));
  probe.sm_accesses = std::max<std::uint64_t>(probe.sm_accesses, 32);
  probe.active_warps = 1;
  return read_windows(run, program, probe);
}

void measure_windows(JobRun& run, ProgramProbe probe, const SweepSetup& setup,
                     ProgramSweep& result) {
  const double alone_cycles = read_alone(run, result.program, probe).mean_cycles;
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

/// What else one could do than choose a number.
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

}  // namespace

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
