#include "jobs/bypass/sweep.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sonde {
namespace {

constexpr int most_numbers = 9;
/// Windows are read on few SMs: their records take shared memory and time.
constexpr int window_sms = 4;
/// SMs whose warps go into the file, and into medians: all of them play.
constexpr int lane_sms = 16;
constexpr auto issue_count = static_cast<std::size_t>(ProgramCount::issue_cycles);

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

double performance_of(JobRun& run, const PaperProgram& program, const ProgramProbe& probe) {
  return accesses_per_cycle(play(run, program, probe).lanes);
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

LoadWindows read_windows(JobRun& run, const PaperProgram& program, ProgramProbe probe,
                         const SweepSetup& setup) {
  probe.windows = true;
  probe.sms = spread_sms(run.info().sm_count, window_sms);
  const Trace& trace = play(run, program, probe);
  return summarize_windows(trace.lanes, cached_warps(probe), setup.threshold_cycles, issue_count);
}

/// One warp of an SM at a time makes a warp's part of the accesses.
LoadWindows read_alone(JobRun& run, const PaperProgram& program, ProgramProbe probe,
                       const SweepSetup& setup) {
  probe.sm_accesses /= static_cast<std::uint64_t>(resident_warps(probe));
  probe.sm_accesses = std::max<std::uint64_t>(probe.sm_accesses, 32);
  probe.active_warps = 1;
  return read_windows(run, program, probe, setup);
}

void measure_windows(JobRun& run, const PaperProgram& program, const ProgramProbe& probe,
                     const SweepSetup& setup, ProgramSweep& result) {
  result.alone = read_alone(run, program, probe, setup);
  const auto wait_of = [&result](const LoadWindows& windows) {
    return windows.loads * std::max(0.0, windows.mean_cycles - result.alone.mean_cycles);
  };
  BypassSweep& sweep = result.sweep;
  sweep.wait_cycles.assign(sweep.cached.size(), std::numeric_limits<double>::quiet_NaN());
  if (program.taught || setup.all_windows) {
    for (std::size_t at = 0; at < sweep.cached.size(); ++at) {
      ProgramProbe some = probe;
      some.cached = sweep.cached[at];
      result.windows.push_back(read_windows(run, program, some, setup));
      sweep.wait_cycles[at] = wait_of(result.windows.back());
    }
    result.all_cached = result.windows.back();
  } else {
    result.all_cached = read_windows(run, program, probe, setup);
    sweep.wait_cycles.back() = wait_of(result.all_cached);
  }
}

/// The other ways that a replicate compares with all cached.
void measure_hints(JobRun& run, const PaperProgram& program, ProgramProbe probe, double base,
                   ProgramSweep& result) {
  probe.cached = 0;
  for (auto [path, speedups] : {std::pair{BypassPath::no_allocate, &result.no_allocate_speedups},
                                std::pair{BypassPath::evict_first, &result.evict_first_speedups}}) {
    probe.bypass_path = path;
    const Attempt played = attempt(run, label_of(program, probe), probe);
    if (played.trace != nullptr)
      speedups->push_back(accesses_per_cycle(played.trace->lanes) / base);
  }
}

/// Half, a quarter and an eighth of the warps (SWL: Rogers et al., MICRO 2012).
std::vector<int> throttled_numbers(int warps) {
  std::vector<int> numbers;
  for (int divisor : {2, 4, 8}) {
    if (warps / divisor > 0) numbers.push_back(warps / divisor);
  }
  return numbers;
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
  ProgramProbe probe = make_probe(program, run.info(), setup);
  ProgramSweep result;
  result.warps = resident_warps(probe);
  BypassSweep& sweep = result.sweep;
  sweep.cached = cached_numbers(bypass_units(probe));
  sweep.hit_gain_cycles = setup.hit_gain_cycles;
  const std::vector<int> throttled = throttled_numbers(result.warps);
  std::vector<std::vector<double>> performance(sweep.cached.size());
  std::vector<std::vector<double>> cycles(sweep.cached.size());
  std::vector<std::vector<double>> throttled_speedups(throttled.size());
  for (std::size_t replicate = 0; replicate < setup.replicates; ++replicate) {
    probe.place = static_cast<Place>(replicate);
    for (std::size_t at = 0; at < sweep.cached.size(); ++at) {
      probe.cached = sweep.cached[at];
      const Trace& trace = play(run, program, probe);
      performance[at].push_back(accesses_per_cycle(trace.lanes));
      cycles[at].push_back(longest_warp_cycles(trace.lanes));
    }
    const double base = performance.back().back();
    result.bypass_speedups.push_back(performance.front().back() / base);
    measure_hints(run, program, probe, base, result);
    for (std::size_t at = 0; at < throttled.size(); ++at) {
      ProgramProbe fewer = probe;
      fewer.active_warps = throttled[at];
      throttled_speedups[at].push_back(performance_of(run, program, fewer) / base);
    }
  }
  for (std::size_t at = 0; at < sweep.cached.size(); ++at) {
    sweep.performance.push_back(median(performance[at]));
    result.cycles.push_back(median(cycles[at]));
  }
  result.throttled_warps = result.warps;
  result.throttled_speedups.assign(setup.replicates, 1);
  for (std::size_t at = 0; at < throttled.size(); ++at) {
    if (median(throttled_speedups[at]) <= median(result.throttled_speedups)) continue;
    result.throttled_speedups = throttled_speedups[at];
    result.throttled_warps = throttled[at];
  }
  const std::size_t best = best_cached(sweep, 0);
  for (std::size_t i = 0; i < setup.replicates; ++i) {
    result.best_speedups.push_back(performance[best][i] / performance.back()[i]);
  }
  probe.place = 0;
  probe.cached = sweep.cached.back();
  measure_windows(run, program, probe, setup, result);
  sweep.estimated_hits = estimate_hits(probe, sweep.cached, setup.l1, run.info().sm_count);
  return result;
}

std::vector<double> measure_speedups(JobRun& run, const PaperProgram& program,
                                     const SweepSetup& setup, const std::vector<int>& cached) {
  ProgramProbe probe = make_probe(program, run.info(), setup);
  const int all = probe.cached;
  std::vector<std::vector<double>> speedups(cached.size());
  for (std::size_t replicate = 0; replicate < setup.replicates; ++replicate) {
    probe.place = static_cast<Place>(replicate);
    probe.cached = all;
    const double base = performance_of(run, program, probe);
    for (std::size_t at = 0; at < cached.size(); ++at) {
      probe.cached = cached[at];
      speedups[at].push_back(cached[at] == all ? 1 : performance_of(run, program, probe) / base);
    }
  }
  std::vector<double> medians;
  for (auto& of_number : speedups) medians.push_back(median(std::move(of_number)));
  return medians;
}

}  // namespace sonde
