// Measures copies of many shapes, then the best of them for longer: the copy throughput of the job
// shared.

#include "analysis/statistics.hpp"
#include "analysis/throughput.hpp"
#include "base/error.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sonde {
namespace {

constexpr int surface_passes = 64;
/// Passes for the result: the start of a block then takes less than a percent of the time.
constexpr int best_passes = 1024;
constexpr std::size_t finalists = 3;    // shapes of a surface that are measured again
constexpr std::size_t wide_shapes = 8;  // number of shapes for 8-byte words

/// Shapes of a copy that fit on an SM; each thread holds `ilp` elements twice (source and target).
/// Options of the job fix their dimension. The quick suite leaves out some values, as throughput
/// just grows with warps and ILP until the banks are busy (Mei and Chu 2016, figure 16).
std::vector<Shape> choose_shapes(const JobRun& run, int element_bytes) {
  const DeviceInfo& gpu = run.info();
  const bool quick = run.level() == SuiteLevel::quick;
  std::vector<Shape> shapes;
  for (int threads : run.choices(options::block_threads, {32, 64, 128, 256, 512, 1024})) {
    for (int blocks : run.choices(options::blocks_per_sm, {1, 2, 3, 4, 5, 6})) {
      for (int ilp : run.choices(options::ilp, {1, 2, 4, 6, 8})) {
        const bool corner = blocks != 3 && blocks <= 4 && ilp != 6 && threads != 64;
        if (quick && !corner && !run.has_settings()) continue;
        const auto block_bytes = 2 * element_bytes * static_cast<std::uint64_t>(ilp) *
                                 static_cast<std::uint64_t>(threads);
        const std::uint64_t sm_bytes = (block_bytes + gpu.reserved_shared_bytes_per_block) *
                                       static_cast<std::uint64_t>(blocks);
        const bool fits =
            threads <= gpu.max_threads_per_block && block_bytes <= gpu.shared_bytes_per_block &&
            sm_bytes <= gpu.shared_bytes_per_sm && threads * blocks <= gpu.max_threads_per_sm;
        if (fits) shapes.push_back({.block_threads = threads, .blocks = blocks, .ilp = ilp});
      }
    }
  }
  return shapes;
}

SharedStreamProbe make_copy(const Shape& shape, int element_bytes, int passes) {
  return {shape.block_threads, shape.blocks,         shape.ilp,
          element_bytes,       BankMode::four_bytes, passes};
}

/// Bytes per cycle, median over the SMs; a copy reads and writes.
double throughput_of(const SharedStreamProbe& probe, const Trace& trace) {
  const double accesses = probe.work == SharedWork::copies ? 2 : 1;
  const double bytes = accesses * probe.element_bytes * probe.ilp * probe.block_threads *
                       probe.blocks_per_sm * probe.passes;
  std::vector<double> rates;
  for (const LaneTrace& lane : trace.lanes) {
    if (lane.elapsed_cycles > 0) rates.push_back(bytes / static_cast<double>(lane.elapsed_cycles));
  }
  return median(std::move(rates));
}

std::vector<SurfacePoint> measure_surface(JobRun& run, const std::vector<Shape>& shapes,
                                          int element_bytes) {
  std::vector<SurfacePoint> points;
  for (const Shape& shape : shapes) {
    const SharedStreamProbe probe = make_copy(shape, element_bytes, surface_passes);
    const std::string label = fmt::format("copy {} B, {}", element_bytes, to_text(shape));
    refusal_of([&] { points.push_back({shape, throughput_of(probe, run.run(label, probe))}); });
  }
  return points;
}

/// Warps of an SM with `shape.blocks` blocks; the last warp of a block may have idle threads.
int active_warps(const Shape& shape, int warp_threads) {
  return (shape.block_threads + warp_threads - 1) / warp_threads * shape.blocks;
}

void report_surface(JobRun& run, const std::vector<SurfacePoint>& points) {
  std::vector<double> threads, blocks, ilp, warps, throughput;
  for (const SurfacePoint& point : points) {
    threads.push_back(point.shape.block_threads);
    blocks.push_back(point.shape.blocks);
    ilp.push_back(point.shape.ilp);
    warps.push_back(active_warps(point.shape, run.info().warp_threads));
    throughput.push_back(point.throughput);
  }
  const std::size_t count = points.size();
  run.report("shared.surface_block_threads", std::move(threads), count);
  run.report("shared.surface_blocks_per_sm", std::move(blocks), count);
  run.report("shared.surface_ilp", std::move(ilp), count);
  run.report("shared.surface_warps", std::move(warps), count);
  run.report("shared.surface_bytes_per_cycle", std::move(throughput), count);
}

/// The surface against active warps (Mei and Chu 2016, figures 15 and 16): the best rate of all
/// shapes with equal numbers of warps and ILP.
void report_matrix(JobRun& run, const std::vector<SurfacePoint>& points) {
  std::map<std::pair<int, int>, double> best;
  for (const SurfacePoint& point : points) {
    const int warps = active_warps(point.shape, run.info().warp_threads);
    double& throughput = best[{warps, point.shape.ilp}];
    throughput = std::max(throughput, point.throughput);
  }
  std::vector<double> warps, ilp, throughput;
  for (const auto& [shape, rate] : best) {
    warps.push_back(shape.first);
    ilp.push_back(shape.second);
    throughput.push_back(rate);
  }
  const std::size_t count = points.size();
  run.report("shared.matrix_warps", std::move(warps), count);
  run.report("shared.matrix_ilp", std::move(ilp), count);
  run.report("shared.matrix_bytes_per_cycle", std::move(throughput), count);
}

/// Measures the best shapes of a surface again with many passes; returns the best of them.
SurfacePoint remeasure_best(JobRun& run, std::vector<SurfacePoint> points, int element_bytes) {
  points = rank_surface(std::move(points), finalists);
  for (SurfacePoint& point : points) {
    const SharedStreamProbe probe = make_copy(point.shape, element_bytes, best_passes);
    point.throughput = throughput_of(
        probe,
        run.run(fmt::format("long copy {} B, {}", element_bytes, to_text(point.shape)), probe));
  }
  return rank_surface(std::move(points)).front();
}

/// Measures 8-byte words at the shapes that are best for 4-byte words.
void report_wide_words(JobRun& run, std::vector<SurfacePoint> points) {
  const auto fitting = choose_shapes(run, 8);
  std::vector<Shape> shapes;
  for (const SurfacePoint& point : rank_surface(std::move(points))) {
    const bool fits = std::find(fitting.begin(), fitting.end(), point.shape) != fitting.end();
    if (fits && shapes.size() < wide_shapes) shapes.push_back(point.shape);
  }
  std::vector<SurfacePoint> surface = measure_surface(run, shapes, 8);
  if (surface.empty()) {
    return run.leave_open("shared.bytes_per_cycle_per_sm_8b", "no 8-byte copy runs");
  }
  const SurfacePoint best = remeasure_best(run, std::move(surface), 8);
  run.report("shared.bytes_per_cycle_per_sm_8b", best.throughput, run.info().sm_count);
}

}  // namespace

double shared_load_rate(JobRun& run) {
  const SharedStreamProbe probe{.block_threads = run.info().max_threads_per_block,
                                .ilp = shared_loads_in_row,
                                .element_bytes = 8,  // fills the widest known banks
                                .passes = best_passes,
                                .work = SharedWork::loads};
  return throughput_of(probe, run.run("loads", probe));
}

void report_shared_copies(JobRun& run) {
  const auto shapes = choose_shapes(run, 4);
  if (shapes.empty()) {
    throw NoAnswer(Status::not_present, "no block of the shape that is set fits on an SM");
  }
  const auto points = measure_surface(run, shapes, 4);
  require(!points.empty(), "no copy inside shared memory runs on this device");
  report_surface(run, points);
  report_matrix(run, points);
  const SurfacePoint best = remeasure_best(run, points, 4);
  run.report("shared.best_shape", to_text(best.shape), points.size());
  run.report("shared.bytes_per_cycle_per_sm", best.throughput, run.info().sm_count);
  const auto sm_hz = run.number("clock.sm_hz");
  if (sm_hz) {
    run.report("shared.bytes_per_s_per_sm", best.throughput * *sm_hz, run.info().sm_count);
  }
  run.leave_open("shared.bytes_per_s_", "clock.sm_hz is not known");
  report_wide_words(run, points);
}

}  // namespace sonde
