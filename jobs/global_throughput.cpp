// Job `global.throughput`: rates at which all SMs together read, write and copy global memory, over
// the shapes of a grid (Mei and Chu 2016, section 5.1). Method: docs/methods/global-throughput.md.

#include "analysis/statistics.hpp"
#include "analysis/throughput.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/cores/stream_surface.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// A stream, its fastest shape, and its surface.
struct ShapedStream {
  StreamProbe stream;
  Shape shape;
  std::vector<SurfacePoint> points;
};

/// Footprint of surfaces: the L2 keeps at most a sixteenth of it from repeat to repeat.
std::uint64_t surface_bytes(const JobRun& run) { return span_beyond_l2(run.info(), 16); }
/// Footprint of rates: the L2 keeps less than 1 %.
std::uint64_t best_bytes(const JobRun& run) { return span_beyond_l2(run.info(), 128); }

constexpr std::array element_sizes_bytes{4, 8, 16};
/// On an H200, places differ by 0.1 to 0.3 % with the larger footprint: one place compares shapes,
/// three give the rate. With the smaller footprint, any of eight shapes may be the best.
constexpr Trial memory_trial{.finalists = 8, .places = 1};
constexpr StoppingRule memory_rule{.least = 3, .most = 10};
/// Thousands of windows give the mean to a percent if mean and deviation are some hundred cycles.
constexpr int timed_tiles = 4096;
constexpr StoppingRule latency_rule{.relative_error = 0.002, .least = 5, .most = 12};
/// Block size of the load under which tiles are timed: all threads of an SM with one load each,
/// equal on every device of a model; the fastest shape differs from run to run.
constexpr int full_block_threads = 512;

struct HintOfKind {
  StreamKind kind;
  StreamHint hint;
  const char* metric;
};
constexpr HintOfKind hints[] = {
    {StreamKind::read, StreamHint::no_allocate, "global.read_no_allocate_bytes_per_s"},
    {StreamKind::read, StreamHint::evict_first, "global.read_evict_first_bytes_per_s"},
    {StreamKind::write, StreamHint::evict_first, "global.write_evict_first_bytes_per_s"},
    {StreamKind::write, StreamHint::write_through, "global.write_write_through_bytes_per_s"},
    {StreamKind::copy, StreamHint::no_allocate, "global.copy_no_allocate_bytes_per_s"},
    {StreamKind::copy, StreamHint::evict_first, "global.copy_evict_first_bytes_per_s"},
    {StreamKind::copy, StreamHint::write_through, "global.copy_write_through_bytes_per_s"},
};

/// Mean latency of timed tiles, and the bytes in flight that follow from it.
struct TileTimes {
  Replicates latency_ns;                // [place][SM]
  std::vector<double> bytes_in_flight;  // [place], by the rate of the same launch
};

TileTimes time_tiles(JobRun& run, StreamProbe stream, const Shape& shape, double overhead_cycles) {
  const double hz = sm_clock_hz(run);
  stream = with_shape(std::move(stream), shape);
  stream.timed_tiles = timed_tiles;
  TileTimes times;
  const auto measure = [&](const Draw& draw) {
    stream.place = draw.place;
    const Trace trace = run.ask(fmt::format("timed tiles, {}", to_text(shape)), stream);
    std::vector<double> means_ns;
    double sum_ns = 0;
    std::uint64_t count = 0;
    for (const LaneTrace& lane : trace.lanes) {
      const double lane_ns = (static_cast<double>(lane.elapsed_cycles) -
                              overhead_cycles * static_cast<double>(lane.accesses)) *
                             1e9 / hz;
      means_ns.push_back(lane_ns / static_cast<double>(lane.accesses));
      sum_ns += lane_ns;
      count += lane.accesses;
    }
    times.bytes_in_flight.push_back(stream_bytes(stream) / trace.repeat_ns.front() * sum_ns /
                                    static_cast<double>(count));
    return means_ns;
  };
  times.latency_ns = measure_replicates(run, "timed tiles", measure, latency_rule);
  return times;
}

/// Reports `global.element_bytes` and, for each kind, `global.<kind>_by_element_bytes_per_s`. The
/// rate is 0 for elements that the device refuses.
/// @param best the best stream of each kind, with elements of 16 bytes
void report_by_element(JobRun& run, std::span<const ShapedStream> best) {
  std::vector<double> sizes_bytes(element_sizes_bytes.begin(), element_sizes_bytes.end());
  run.report("global.element_bytes", std::move(sizes_bytes), 1);
  const Draw draw = draw_replicate(run, "elements", 0);
  for (const ShapedStream& of_kind : best) {
    StreamProbe stream = of_kind.stream;
    std::vector<double> series;
    for (const int size_bytes : element_sizes_bytes) {
      stream.element_bytes = size_bytes;
      const std::vector<double> rates = measure_at(run, stream, of_kind.shape, draw, 1);
      series.push_back(rates.empty() ? 0 : rates.front());
    }
    run.report(fmt::format("global.{}_by_element_bytes_per_s", to_text(stream.kind)),
               std::move(series), element_sizes_bytes.size());
  }
}

/// The best shape, the best that loops over tiles, and the best with a block for each tile.
std::vector<Shape> best_shapes(const ShapedStream& best) {
  std::vector<Shape> shapes{best.shape};
  for (const bool by_tiles : {false, true}) {
    for (const SurfacePoint& point : rank_surface(best.points)) {
      if ((point.shape.blocks == blocks_by_tiles) != by_tiles) continue;
      if (point.shape != best.shape) shapes.push_back(point.shape);
      break;
    }
  }
  return shapes;
}

/// Reports `global.<kind>_<hint>_bytes_per_s` for every hint of a kind, in the best of these
/// shapes: the best shape without a hint may lose 4 % with it.
void report_hints(JobRun& run, std::span<const ShapedStream> best) {
  for (const HintOfKind& asked : hints) {
    for (const ShapedStream& of_kind : best) {
      if (of_kind.stream.kind != asked.kind) continue;
      StreamProbe stream = of_kind.stream;
      stream.hint = asked.hint;
      const std::vector<Shape> shapes = best_shapes(of_kind);
      const auto refusal = refusal_of([&] {
        const auto points = rank_surface(measure_surface(run, stream, shapes));
        report_rate(run, asked.metric,
                    measure_best(run, stream, points.front().shape, 1, memory_rule));
      });
      if (refusal) run.leave_open(asked.metric, "the device refuses the hint");
    }
  }
}

/// Reports `global.bulk_read_bytes_per_s` and `global.bulk_copy_bytes_per_s`.
void report_bulk(JobRun& run) {
  // Tiles of 4 to 16 KiB, bulk_stages of them in flight in each of a few blocks: from fewer to more
  // bytes in flight than an SM needs.
  std::vector<Shape> shapes;
  for (const int blocks_per_sm : {1, 2, 4}) {
    for (const int ilp : {8, 16, 32}) {
      shapes.push_back({bulk_threads, blocks_per_sm * run.info().sm_count, ilp});
    }
  }
  for (const StreamKind kind : {StreamKind::read, StreamKind::copy}) {
    StreamProbe stream = make_stream(kind, surface_bytes(run));
    stream.engine = StreamEngine::bulk;
    const std::string metric = fmt::format("global.bulk_{}_bytes_per_s", to_text(kind));
    const auto refusal = refusal_of([&] { run.run("bulk", with_shape(stream, shapes.front())); });
    if (refusal) {
      run.leave_open(metric, *refusal);
      continue;
    }
    const auto points = measure_surface(run, stream, shapes);
    stream.footprint_bytes = best_bytes(run);
    report_rate(
        run, metric,
        measure_best(run, stream, choose_shape(run, stream, points, memory_trial), 1, memory_rule));
  }
}

/// Reports `global.light_latency_ns`, `global.loaded_latency_ns` and
/// `global.loaded_bytes_in_flight`: means over timed tiles, with one warp on each SM and with all
/// threads of each SM (or as the options of the job say).
/// @param reads with elements of 16 bytes
void report_latency_of_tiles(JobRun& run, const StreamProbe& reads) {
  const double overhead_cycles = window_overhead_cycles(run);
  const Shape light{static_cast<int>(warp_threads), run.info().sm_count, 1};
  const TileTimes alone = time_tiles(run, reads, light, overhead_cycles);
  const DeviceInfo& gpu = run.info();
  const int usual = std::min(gpu.max_threads_per_block, full_block_threads);
  const int threads = run.choices(options::block_threads, {usual}).front();
  const int blocks =
      run.choices(options::blocks_per_sm, {gpu.max_threads_per_sm / threads}).front();
  const int ilp = run.choices(options::ilp, {1}).front();
  const Shape full{threads, blocks * gpu.sm_count, ilp};
  const TileTimes loaded = time_tiles(run, reads, full, overhead_cycles);
  run.report(found_replicated("global.light_latency_ns", alone.latency_ns));
  run.report(found_replicated("global.loaded_latency_ns", loaded.latency_ns), to_text(full));
  run.report("global.loaded_bytes_in_flight", median(loaded.bytes_in_flight),
             loaded.bytes_in_flight.size());
}

/// @param prefix of the metrics; "" for reads
void report_surface(JobRun& run, StreamKind kind, const std::string& prefix,
                    const std::vector<SurfacePoint>& points) {
  const StreamProbe stream = make_stream(kind, surface_bytes(run));
  std::vector<double> threads, blocks, ilp, rates;
  for (const SurfacePoint& point : points) {
    threads.push_back(point.shape.block_threads);
    blocks.push_back(with_shape(stream, point.shape).blocks);
    ilp.push_back(point.shape.ilp);
    rates.push_back(point.throughput);
  }
  const auto report = [&](const char* name, std::vector<double> values) {
    run.report(fmt::format("global.{}surface_{}", prefix, name), std::move(values), points.size());
  };
  report("block_threads", std::move(threads));
  report("blocks", std::move(blocks));
  report("ilp", std::move(ilp));
  report("bytes_per_s", std::move(rates));
}

void report_littles_law(JobRun& run, const std::vector<SurfacePoint>& points) {
  const DeviceInfo& gpu = run.info();
  const StreamProbe stream = make_stream(StreamKind::read, surface_bytes(run));
  std::vector<double> bytes_in_flight, rates;
  for (const SurfacePoint& point : points) {
    const int resident = std::max(1, gpu.max_threads_per_sm / point.shape.block_threads);
    const int asked =
        point.shape.blocks == blocks_by_tiles ? resident : point.shape.blocks / gpu.sm_count;
    bytes_in_flight.push_back(
        1.0 * gpu.sm_count * std::min(resident, asked) *
        static_cast<double>(stream_tile_bytes(with_shape(stream, point.shape))));
    rates.push_back(point.throughput);
  }
  const auto law = fit_littles_law(bytes_in_flight, rates);
  if (!law) {
    return run.leave_open("global.littles_law_", "too few shapes leave the memory unsaturated");
  }
  const double confidence = std::max(0.0, law->r2);
  run.report("global.littles_law_bytes_in_flight", law->bytes_in_flight, law->points, confidence);
  run.report("global.littles_law_latency_ns", law->latency_s * 1e9, law->points, confidence);
  run.report("global.littles_law_r2", law->r2, law->points);
}

void report_theory(JobRun& run, double read_bytes_per_s) {
  const double theoretical = run.info().theoretical_bytes_per_s();
  if (theoretical > 0) {
    run.report("global.theoretical_bytes_per_s", theoretical, 1);
    return run.report("global.efficiency", read_bytes_per_s / theoretical, 1);
  }
  for (const char* metric : {"global.theoretical_bytes_per_s", "global.efficiency"}) {
    run.leave_open(metric, "the driver reports no memory clock, data rate or bus width");
  }
}

/// Measures the surface over a smaller footprint, and the best shape over a larger one.
ShapedStream report_kind(JobRun& run, StreamKind kind, Surface surface) {
  std::vector<Shape> all_shapes = choose_grid_shapes(run, surface);
  // One block per tile and no loop: accesses of all SMs stay close together in memory, as in most
  // kernels.
  for (int threads : {256, 512}) {
    for (int ilp : {1, 2, 4}) {
      const bool fits = threads <= run.info().max_threads_per_block;
      if (fits && !run.has_settings()) all_shapes.push_back({threads, blocks_by_tiles, ilp});
    }
  }
  const auto points = measure_surface(run, make_stream(kind, surface_bytes(run)), all_shapes);
  const StreamProbe stream = make_stream(kind, best_bytes(run));
  const Shape shape = choose_shape(run, stream, points, memory_trial);
  constexpr int repeats = 3;
  const Best best = measure_best(run, stream, shape, repeats, memory_rule);
  report_rate(run, fmt::format("global.{}_bytes_per_s", to_text(kind)), best);
  if (kind == StreamKind::read) {
    run.report("global.best_shape", to_text(shape), points.size());
  }
  const std::string prefix = kind == StreamKind::read ? "" : fmt::format("{}_", to_text(kind));
  report_surface(run, kind, prefix, points);
  return {stream, shape, points};
}

}  // namespace

void run_global_throughput(JobRun& run) {
  std::vector<ShapedStream> best{report_kind(run, StreamKind::read, Surface::whole)};
  report_littles_law(run, best.front().points);
  report_theory(run, *run.number("global.read_bytes_per_s"));

  const Surface others = run.level() == SuiteLevel::full ? Surface::whole : Surface::upper;
  best.push_back(report_kind(run, StreamKind::write, others));
  best.push_back(report_kind(run, StreamKind::copy, others));
  if (run.level() == SuiteLevel::quick) return run.skip_rest("");

  report_by_element(run, best);
  report_hints(run, best);
  report_bulk(run);
  report_latency_of_tiles(run, make_stream(StreamKind::read, surface_bytes(run)));
}

}  // namespace sonde
