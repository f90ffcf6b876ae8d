#include "jobs/bypass/calibration.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// Shared parts come in steps of 4 KiB (CUDA programming guide, compute capability 7.x to 9.0), so
/// that the sizes of the L1 do, too; a measured one has a gradual edge.
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

/// One warp that loads the same elements again and again, `thread_step` elements apart.
PaperProgram make_reuse(std::uint32_t thread_step, int sm_count) {
  ProgramKernel kernel{.grid_x = static_cast<std::uint32_t>(sm_count), .inner = {.first = 256}};
  kernel.body = {{.array = 0, .per_thread_x = thread_step}};
  PaperProgram reuse;
  reuse.program = {.name = fmt::format("reuse_{}", thread_step),
                   .array_elements = {std::uint64_t{warp_threads} * thread_step},
                   .kernels = {kernel}};
  return reuse;
}

std::vector<double> reuse_windows(JobRun& run, std::uint32_t thread_step, int cached,
                                  BypassPath path, const SweepSetup& setup) {
  ProgramProbe probe = make_probe(make_reuse(thread_step, run.info().sm_count), run.info(), setup);
  probe.cached = cached;
  probe.bypass_path = path;
  probe.windows = true;
  probe.sm_accesses = 256;
  probe.sms = spread_sms(run.info().sm_count, 4);
  const std::string label = fmt::format("a warp alone, {} elements apart, {}", thread_step,
                                        cached > 0 ? "through the L1" : to_text(path));
  const auto windows = all_windows(run.run(label, probe));
  return {windows.begin(), windows.end()};
}

constexpr std::uint32_t line_elements = 32;  // of 128 bytes: a line for each thread

}  // namespace

std::pair<L1Part, L1Part> find_l1_parts(const JobRun& run, double size_bytes) {
  const L1Part only{static_cast<std::uint64_t>(size_bytes), std::nullopt};
  const auto carveouts = run.vector("cache.l1.carveout_bytes");
  const auto sizes = run.vector("cache.l1.size_by_carveout_bytes");
  if (!carveouts || !sizes || sizes->size() != carveouts->size()) return {only, only};
  L1Part small = only;
  L1Part large = only;
  for (std::size_t at = 0; at < sizes->size(); ++at) {
    const auto bytes = static_cast<std::uint64_t>((*sizes)[at]);
    const L1Part part{bytes, static_cast<std::uint64_t>((*carveouts)[at])};
    if (bytes > 0 && (!small.shared_carveout_bytes || bytes < small.l1_bytes)) small = part;
    if (!large.shared_carveout_bytes || bytes > large.l1_bytes) large = part;
  }
  return {small, large};
}

SweepSetup make_setup(const JobRun& run, const L1Part& small, const L1Part& large) {
  const bool full = run.level() == SuiteLevel::full;
  SweepSetup setup{.l1 = geometry_of(run, small.l1_bytes),
                   .shared_carveout_bytes = small.shared_carveout_bytes,
                   .sm_accesses = full ? 16000u : 2000u,
                   .replicates = full ? 4u : 2u,
                   .all_windows = full};
  if (large.l1_bytes > small.l1_bytes) setup.large_l1_carveout_bytes = large.shared_carveout_bytes;
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
  run.report(found("bypass.path_hit_fractions", std::move(fractions), 1, 3));
}

}  // namespace sonde
