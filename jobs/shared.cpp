// The shared job: latency of shared memory, what bank conflicts cost, the banks themselves, and
// the copy throughput of an SM over its shapes (Mei and Chu 2016, section 6;
// docs/methods/shared.md).
#include "analysis/statistics.hpp"
#include "analysis/structure/shared_banks.hpp"
#include "analysis/throughput.hpp"
#include "base/error.hpp"
#include "jobs/jobs.hpp"
#include "jobs/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t chase_accesses = 64;  // as many as Mei and Chu 2016, section 6.2, used
constexpr int measured_sms = 3;               // a median that one odd SM cannot move
constexpr int largest_stride = 64;
/// Two rows of 32 banks of 8 bytes, the widest there have been: enough for infer_banks.
constexpr int scanned_words = 128;
constexpr int surface_passes = 64;
/// Passes for the result: the start of a block is then below a percent of the whole.
constexpr int best_passes = 1024;

/// What is the same for every shared chase of this job.
struct ChaseSetup {
  std::vector<int> sms;
  int warp_threads = 32;
  double overhead_cycles = 0;
};

std::vector<std::uint32_t> all_windows(const Trace& trace) {
  std::vector<std::uint32_t> windows;
  for (const LaneTrace& lane : trace.lanes) {
    windows.insert(windows.end(), lane.window_cycles.begin(), lane.window_cycles.end());
  }
  return windows;
}

const Trace& chase(JobRun& run, const ChaseSetup& setup, std::string label,
                   std::vector<std::uint32_t> offsets, int element_bytes, BankMode mode) {
  return run.run(std::move(label), SharedChaseProbe{std::move(offsets), element_bytes, mode,
                                                    chase_accesses, setup.sms});
}

void report_latency(JobRun& run, const ChaseSetup& setup) {
  const Trace& trace = chase(run, setup, "one thread", {0}, 4, BankMode::four_bytes);
  const auto windows = all_windows(trace);
  const std::vector<double> values(windows.begin(), windows.end());
  run.report(found("shared.latency_cycles", typical_latency_cycles(windows, setup.overhead_cycles),
                   1, windows.size(), median_absolute_deviation(values)));
  std::vector<double> amortised;
  for (const LaneTrace& lane : trace.lanes) {
    amortised.push_back(static_cast<double>(lane.elapsed_cycles) /
                        static_cast<double>(lane.accesses));
  }
  const double spread = median_absolute_deviation(amortised);
  run.report(found("shared.amortised_latency_cycles", median(std::move(amortised)), 1,
                   chase_accesses * trace.lanes.size(), spread));
}

std::optional<SharedBanks> find_banks(JobRun& run, const ChaseSetup& setup) {
  std::vector<double> pair_latency_cycles;
  for (std::uint32_t words = 0; words < scanned_words; ++words) {
    const Trace& trace = chase(run, setup, fmt::format("pair at {} words", words), {0, 4 * words},
                               4, BankMode::four_bytes);
    pair_latency_cycles.push_back(
        precise_latency_cycles(all_windows(trace), setup.overhead_cycles));
  }
  const auto banks = infer_banks(pair_latency_cycles);
  if (!banks) {
    const std::string reason = fmt::format(
        "no regular conflicts between two threads up to {} words apart", scanned_words - 1);
    run.report(not_resolvable("shared.bank_count", reason));
    run.report(not_resolvable("shared.bank_bytes", reason));
    return std::nullopt;
  }
  run.report(found("shared.bank_count", static_cast<double>(banks->count), 1, scanned_words));
  run.report(found("shared.bank_bytes", static_cast<double>(banks->bank_bytes), 1, scanned_words));
  return banks;
}

void report_conflicts(JobRun& run, const ChaseSetup& setup,
                      const std::optional<SharedBanks>& banks) {
  std::vector<double> ways_measured{1};
  std::vector<double> latencies{*run.number("shared.latency_cycles")};
  for (int ways : {2, 4, 8, 16, 32}) {
    const std::string metric = fmt::format("shared.conflict_cycles.{}", ways);
    if (!banks || setup.warp_threads % ways != 0) {
      run.report(not_resolvable(metric, banks ? "a warp has too few threads"
                                              : "the banks of shared memory are not known"));
      continue;
    }
    const Trace& trace =
        chase(run, setup, fmt::format("{}-way conflict", ways),
              conflict_offsets(setup.warp_threads, ways, *banks, 4), 4, BankMode::four_bytes);
    const auto windows = all_windows(trace);
    const std::vector<double> values(windows.begin(), windows.end());
    ways_measured.push_back(ways);
    latencies.push_back(typical_latency_cycles(windows, setup.overhead_cycles));
    run.report(
        found(metric, latencies.back(), 1, windows.size(), median_absolute_deviation(values)));
  }
  if (latencies.size() < 3) {
    run.report(not_resolvable("shared.conflict_cost_cycles", "too few conflicts were measured"));
    run.report(not_resolvable("shared.conflict_linearity_r2", "too few conflicts were measured"));
    return;
  }
  const LinearFit line = fit_line(ways_measured, latencies);
  run.report(found("shared.conflict_cost_cycles", line.slope, line.r2, latencies.size()));
  run.report(found("shared.conflict_linearity_r2", line.r2, 1, latencies.size()));
}

std::vector<double> stride_latencies(JobRun& run, const ChaseSetup& setup, int element_bytes,
                                     BankMode mode) {
  std::vector<double> latencies;
  for (int stride = 0; stride <= largest_stride; ++stride) {
    const std::string label = fmt::format("stride {}, {} B words{}", stride, element_bytes,
                                          mode == BankMode::eight_bytes ? ", 8 B banks" : "");
    const Trace& trace =
        chase(run, setup, label, stride_offsets(setup.warp_threads, stride, element_bytes),
              element_bytes, mode);
    latencies.push_back(precise_latency_cycles(all_windows(trace), setup.overhead_cycles));
  }
  return latencies;
}

/// Reports the vector over all strides, or why this device does not run such a chase.
void report_strides(JobRun& run, const ChaseSetup& setup, const std::string& metric,
                    int element_bytes, BankMode mode) {
  try {
    run.report(found(metric, stride_latencies(run, setup, element_bytes, mode), 1,
                     (largest_stride + 1) * chase_accesses * setup.sms.size()));
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    run.report(not_present(metric, error.what()));
  }
}

double bytes_of(const SharedStreamProbe& probe) {  // of one SM; a copy reads and writes
  return 2.0 * probe.element_bytes * probe.ilp * probe.block_threads * probe.blocks_per_sm *
         probe.passes;
}

SharedStreamProbe make_copy(const Shape& shape, int element_bytes, int passes) {
  return {shape.block_threads, shape.blocks,         shape.ilp,
          element_bytes,       BankMode::four_bytes, passes};
}

/// Bytes per cycle of the median SM.
double copy_throughput(const SharedStreamProbe& probe, const Trace& trace) {
  std::vector<double> rates;
  for (const LaneTrace& lane : trace.lanes) {
    if (lane.elapsed_cycles > 0) {
      rates.push_back(bytes_of(probe) / static_cast<double>(lane.elapsed_cycles));
    }
  }
  return median(std::move(rates));
}

std::vector<SurfacePoint> measure_surface(JobRun& run, const std::vector<Shape>& shapes,
                                          int element_bytes) {
  std::vector<SurfacePoint> points;
  for (const Shape& shape : shapes) {
    const SharedStreamProbe probe = make_copy(shape, element_bytes, surface_passes);
    const Trace& trace =
        run.run(fmt::format("copy {} B, {}", element_bytes, to_text(shape)), probe);
    points.push_back({shape, copy_throughput(probe, trace)});
  }
  return points;
}

/// Every shape in a full suite; else the corners and diagonals that the maximum is known to sit on
/// (Mei and Chu 2016, figure 16: throughput grows with warps and ILP until the banks are busy).
std::vector<Shape> choose_shapes(const JobRun& run, std::vector<Shape> shapes) {
  if (run.level() != SuiteLevel::quick) return shapes;
  std::erase_if(shapes, [](const Shape& shape) {
    return shape.blocks == 3 || shape.blocks > 4 || shape.ilp == 6 || shape.block_threads == 64;
  });
  return shapes;
}

void report_surface(JobRun& run, const std::vector<SurfacePoint>& points) {
  std::vector<double> threads, blocks, ilp, throughput;
  for (const SurfacePoint& point : points) {
    threads.push_back(point.shape.block_threads);
    blocks.push_back(point.shape.blocks);
    ilp.push_back(point.shape.ilp);
    throughput.push_back(point.throughput);
  }
  const std::size_t count = points.size();
  run.report(found("shared.surface_block_threads", std::move(threads), 1, count));
  run.report(found("shared.surface_blocks_per_sm", std::move(blocks), 1, count));
  run.report(found("shared.surface_ilp", std::move(ilp), 1, count));
  run.report(found("shared.surface_bytes_per_cycle", std::move(throughput), 1, count));
}

/// The three best shapes of a surface again with many passes; the best of them.
SurfacePoint remeasure_best(JobRun& run, std::vector<SurfacePoint> points, int element_bytes) {
  points = rank_surface(std::move(points));
  points.resize(std::min<std::size_t>(points.size(), 3));
  for (SurfacePoint& point : points) {
    const SharedStreamProbe probe = make_copy(point.shape, element_bytes, best_passes);
    point.throughput = copy_throughput(
        probe,
        run.run(fmt::format("long copy {} B, {}", element_bytes, to_text(point.shape)), probe));
  }
  return rank_surface(std::move(points)).front();
}

void report_throughput(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  const SmLimits limits{gpu.max_threads_per_block, gpu.max_threads_per_sm,
                        gpu.shared_bytes_per_block, gpu.shared_bytes_per_sm,
                        gpu.reserved_shared_bytes_per_block};
  const auto points = measure_surface(run, choose_shapes(run, shared_copy_shapes(limits, 4)), 4);
  require(!points.empty(), "no copy fits into shared memory (the driver told its size wrongly?)");
  report_surface(run, points);
  const SurfacePoint best = remeasure_best(run, points, 4);
  const auto sm_count = static_cast<std::uint64_t>(gpu.sm_count);
  run.report(found("shared.best_shape", to_text(best.shape), 1, points.size()));
  run.report(found("shared.bytes_per_cycle_per_sm", best.throughput, 1, sm_count));
  if (const auto sm_hz = run.number("clock.sm_hz")) {
    run.report(found("shared.bytes_per_s_per_sm", best.throughput * *sm_hz, 1, sm_count));
  } else {
    run.report(not_resolvable("shared.bytes_per_s_per_sm", "clock.sm_hz is not known"));
  }

  std::vector<SurfacePoint> wide = points;  // the shapes that served 4-byte words best
  wide = rank_surface(std::move(wide));
  std::vector<Shape> shapes;
  const auto fitting = shared_copy_shapes(limits, 8);
  for (const SurfacePoint& point : wide) {
    if (shapes.size() < 8 &&
        std::find(fitting.begin(), fitting.end(), point.shape) != fitting.end())
      shapes.push_back(point.shape);
  }
  if (shapes.empty()) {
    run.report(not_resolvable("shared.bytes_per_cycle_per_sm_8b", "no 8-byte copy fits"));
    return;
  }
  const SurfacePoint best_wide = remeasure_best(run, measure_surface(run, shapes, 8), 8);
  run.report(found("shared.bytes_per_cycle_per_sm_8b", best_wide.throughput, 1, sm_count));
}

}  // namespace

void run_shared(JobRun& run) {
  const ChaseSetup setup{spread_sms(run.info().sm_count, measured_sms), run.info().warp_threads,
                         window_overhead_cycles(run)};
  report_latency(run, setup);
  report_conflicts(run, setup, find_banks(run, setup));
  report_strides(run, setup, "shared.stride_latency_cycles", 4, BankMode::four_bytes);
  report_strides(run, setup, "shared.stride_latency_8b_cycles", 8, BankMode::four_bytes);
  report_strides(run, setup, "shared.stride_latency_wide_mode_cycles", 4, BankMode::eight_bytes);
  report_throughput(run);
}

}  // namespace sonde
