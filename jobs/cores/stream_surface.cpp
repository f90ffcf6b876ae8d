#include "jobs/cores/stream_surface.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr int element_bytes = 16;

/// Names what differs from most streams.
std::string to_text(const StreamProbe& probe) {
  std::string text(to_text(probe.kind));
  if (probe.engine == StreamEngine::bulk) text = "bulk " + text;
  if (probe.hint != StreamHint::none) text += fmt::format(" {}", to_text(probe.hint));
  if (probe.element_bytes != element_bytes && probe.kind != StreamKind::add) {
    text += fmt::format(" by {} B", probe.element_bytes);
  }
  if (!probe.groups.empty()) text += " of groups";
  return text + " " + format_bytes(probe.footprint_bytes);
}

}  // namespace

std::vector<double> measure_at(JobRun& run, StreamProbe stream, const Shape& shape,
                               const Draw& draw, int repeats) {
  stream = with_shape(std::move(stream), shape);
  stream.place = draw.place;
  stream.repeats = repeats;
  std::vector<double> rates;
  refusal_of([&] {
    const std::string label = fmt::format("{}, {}", to_text(stream), to_text(shape));
    for (double elapsed_ns : run.run(label, stream).repeat_ns) {
      if (elapsed_ns > 0) rates.push_back(stream_bytes(stream) / elapsed_ns * 1e9);
    }
  });
  if (stream.kind == StreamKind::add) {
    for (double& rate : rates) rate /= stream.element_bytes;
  }
  return rates;
}

std::uint64_t span_beyond_l2(const DeviceInfo& gpu, std::uint64_t times) {
  const std::uint64_t l2_bytes = gpu.l2_bytes > 0 ? gpu.l2_bytes : 4_MiB;
  const std::uint64_t most_bytes = gpu.memory_bytes > 0 ? gpu.memory_bytes / 4 : 256_MiB;
  return std::min(std::max(times * l2_bytes, 64_MiB), most_bytes) & ~(large_page_bytes - 1);
}

StreamProbe make_stream(StreamKind kind, std::uint64_t footprint_bytes) {
  StreamProbe probe;
  probe.kind = kind;
  probe.element_bytes = element_bytes;
  probe.footprint_bytes = footprint_bytes;
  return probe;
}

StreamProbe with_shape(StreamProbe stream, const Shape& shape) {
  stream.block_threads = shape.block_threads;
  stream.ilp = shape.ilp;
  const std::uint64_t pass_bytes =
      stream.footprint_bytes / (stream.kind == StreamKind::copy ? 2 : 1);
  stream.blocks =
      shape.blocks > 0 ? shape.blocks : static_cast<int>(pass_bytes / stream_tile_bytes(stream));
  return stream;
}

std::vector<Shape> choose_grid_shapes(const JobRun& run, Surface surface) {
  const DeviceInfo& gpu = run.info();
  const bool whole = surface == Surface::whole || run.has_settings();
  std::vector<Shape> shapes;
  for (int threads : run.choices(options::block_threads, {64, 128, 256, 512, 1024})) {
    for (int blocks_per_sm : run.choices(options::blocks_per_sm, {1, 2, 4, 8, 16})) {
      for (int ilp : run.choices(options::ilp, {1, 2, 4, 8})) {
        const bool upper = threads * blocks_per_sm >= gpu.max_threads_per_sm / 2 && ilp != 2;
        const bool more_than_fits = threads * blocks_per_sm > 4 * gpu.max_threads_per_sm;
        const bool asked = run.number_setting(options::blocks_per_sm.name).has_value();
        if (threads > gpu.max_threads_per_block || !(whole || upper)) continue;
        if (more_than_fits && !asked) continue;
        shapes.push_back({threads, blocks_per_sm * gpu.sm_count, ilp});
      }
    }
  }
  if (!shapes.empty()) return shapes;
  throw NoAnswer(Status::not_present, "no block of this GPU has as many threads as are set");
}

std::vector<SurfacePoint> measure_surface(JobRun& run, const StreamProbe& stream,
                                          const std::vector<Shape>& shapes) {
  const Draw draw = draw_replicate(run, "surface", 0);
  std::vector<SurfacePoint> points;
  for (const Shape& shape : shapes) {
    const std::vector<double> rates = measure_at(run, stream, shape, draw, 1);
    if (!rates.empty()) points.push_back({shape, rates.front()});
  }
  if (points.empty() && run.has_settings()) {
    throw NoAnswer(Status::not_present,
                   fmt::format("no block of a {} stream of the shape that is set fits an SM",
                               to_text(stream.kind)));
  }
  if (points.empty()) {
    throw DeviceError(
        fmt::format("no shape of a {} stream runs on this device", to_text(stream.kind)));
  }
  return points;
}

Shape choose_shape(JobRun& run, const StreamProbe& stream, std::vector<SurfacePoint> points,
                   const Trial& trial) {
  points = rank_surface(std::move(points), trial.finalists);
  for (SurfacePoint& point : points) {
    std::vector<double> rates;
    for (std::size_t place = 0; place < trial.places; ++place) {
      const Draw draw = draw_replicate(run, "trial", place);
      for (const double rate : measure_at(run, stream, point.shape, draw, 1)) rates.push_back(rate);
    }
    point.throughput = rates.empty() ? 0 : median(std::move(rates));
  }
  return rank_surface(std::move(points)).front().shape;
}

Best measure_best(JobRun& run, const StreamProbe& stream, const Shape& shape, int repeats,
                  const StoppingRule& rule) {
  const std::string what =
      fmt::format("{} {} {}", to_text(stream.kind), stream.footprint_bytes, to_text(shape));
  const auto measure = [&](const Draw& draw) {
    return measure_at(run, stream, shape, draw, repeats);
  };
  return {shape, measure_replicates(run, what, measure, rule)};
}

void report_rate(JobRun& run, const std::string& metric, const Best& best) {
  const ReplicateSummary summary = summarize_replicates(best.rates.samples);
  Finding finding = found_replicated(metric, summary);
  // Repeats that differ by a tenth were disturbed.
  finding.confidence = std::clamp(1 - 7 * summary.repeatability / summary.center, 0.0, 1.0);
  run.report(std::move(finding), to_text(best.shape));
}

}  // namespace sonde
