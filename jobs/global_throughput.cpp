// Job `global.throughput`: how fast the SMs together read, write and copy global memory, over the
// shapes of a grid (Mei and Chu 2016, section 5.1).
// Method: docs/methods/global-throughput.md.
#include "analysis/throughput.hpp"
#include "jobs/cores/stream_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {
namespace {

// On an H200 two places tell the rate of the memory to 0.3 %.
constexpr Trial memory_trial{.finalists = 4, .places = 2, .repeats = 3};

struct Footprints {
  std::uint64_t surface_bytes = 0;  // what the L2 keeps from one repeat to the next is below 6 %
  std::uint64_t best_bytes = 0;     // ... below 1 %
};

Footprints choose_footprints(const DeviceInfo& gpu) {
  return {span_beyond_l2(gpu, 16), span_beyond_l2(gpu, 128)};
}

/// @param prefix of the metrics: "" for reads
void report_surface(JobRun& run, StreamKind kind, const std::string& prefix,
                    const std::vector<SurfacePoint>& points) {
  const StreamProbe stream = make_stream(kind, choose_footprints(run.info()).surface_bytes);
  std::vector<double> threads, blocks, ilp, rates;
  for (const SurfacePoint& point : points) {
    threads.push_back(point.shape.block_threads);
    blocks.push_back(with_shape(stream, point.shape).blocks);
    ilp.push_back(point.shape.ilp);
    rates.push_back(point.throughput);
  }
  const std::size_t samples = points.size() * surface_places;
  const auto report = [&](const char* name, std::vector<double> values) {
    run.report(
        found(fmt::format("global.{}surface_{}", prefix, name), std::move(values), 1, samples));
  };
  report("block_threads", std::move(threads));
  report("blocks", std::move(blocks));
  report("ilp", std::move(ilp));
  report("bytes_per_s", std::move(rates));
}

void report_littles_law(JobRun& run, const std::vector<SurfacePoint>& points) {
  const DeviceInfo& gpu = run.info();
  const StreamProbe stream = make_stream(StreamKind::read, choose_footprints(gpu).surface_bytes);
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
  run.report(
      found("global.littles_law_bytes_in_flight", law->bytes_in_flight, confidence, law->points));
  run.report(found("global.littles_law_latency_ns", law->latency_s * 1e9, confidence, law->points));
  run.report(found("global.littles_law_r2", law->r2, 1, law->points));
}

void report_theory(JobRun& run, double read_bytes_per_s) {
  const double theoretical = run.info().theoretical_bytes_per_s();
  if (theoretical > 0) {
    run.report(found("global.theoretical_bytes_per_s", theoretical, 1, 1));
    return run.report(found("global.efficiency", read_bytes_per_s / theoretical, 1, 1));
  }
  for (const char* metric : {"global.theoretical_bytes_per_s", "global.efficiency"}) {
    run.leave_open(metric, "the driver tells no memory clock, data rate or bus width");
  }
}

/// The best shapes of a surface that loop over tiles, and that have a block for each, but for one.
std::vector<Shape> other_shapes(const std::vector<SurfacePoint>& points, const Shape& best) {
  std::vector<Shape> others;
  for (const bool by_tiles : {false, true}) {
    for (const SurfacePoint& point : rank_surface(points)) {
      if ((point.shape.blocks == blocks_by_tiles) != by_tiles) continue;
      if (point.shape != best) others.push_back(point.shape);
      break;
    }
  }
  return others;
}

struct KindResult {
  std::vector<SurfacePoint> points;
  ShapedStream best;
};

/// Surface over a smaller footprint, best shapes over a larger one.
KindResult report_kind(JobRun& run, StreamKind kind, Surface surface) {
  const Footprints footprints = choose_footprints(run.info());
  std::vector<Shape> all_shapes = choose_grid_shapes(run, surface);
  for (const Shape& shape : choose_tile_shapes(run)) all_shapes.push_back(shape);
  const auto points =
      measure_surface(run, make_stream(kind, footprints.surface_bytes), all_shapes, surface_places);
  const StreamProbe stream = make_stream(kind, footprints.best_bytes);
  const std::vector<Shape> shapes = choose_finalists(run, stream, points, memory_trial);
  const Best best =
      remeasure_best(run, stream, shapes, memory_trial.repeats, {.least = 5, .most = 10});
  report_rate(run, fmt::format("global.{}_bytes_per_s", to_text(kind)), best);
  if (kind == StreamKind::read) {
    run.report(found("global.best_shape", to_text(best.shape), 1, points.size()));
  }
  const std::string prefix = kind == StreamKind::read ? "" : fmt::format("{}_", to_text(kind));
  report_surface(run, kind, prefix, points);
  return {points, {stream, best.shape, other_shapes(points, best.shape)}};
}

}  // namespace

void run_global_throughput(JobRun& run) {
  const KindResult reads = report_kind(run, StreamKind::read, Surface::whole);
  report_littles_law(run, reads.points);
  report_theory(run, *run.number("global.read_bytes_per_s"));

  const Surface others = run.level() == SuiteLevel::full ? Surface::whole : Surface::upper;
  const KindResult writes = report_kind(run, StreamKind::write, others);
  const KindResult copies = report_kind(run, StreamKind::copy, others);
  if (run.level() == SuiteLevel::quick) return run.skip_rest("");

  const ShapedStream best[]{reads.best, writes.best, copies.best};
  const Footprints footprints = choose_footprints(run.info());
  report_by_element(run, best);
  report_hints(run, best);
  report_bulk(run, footprints.surface_bytes, footprints.best_bytes);
  report_latency_of_tiles(run, make_stream(StreamKind::read, footprints.surface_bytes));
}

}  // namespace sonde
