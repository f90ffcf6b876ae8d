// Job `l2.throughput`: how fast the SMs together read and write what lies in the L2, and how fast
// they read when all of them want the same lines.
// Method: docs/methods/l2-throughput.md.
#include "jobs/cores/stream_surface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// On an H200 16 to 96 places tell the rate of the L2 to 0.3 %: some shapes make 8.2 to 8.9 TB/s of
// it by the place, others 8.3 to 8.4, so that one place chooses among them by chance.
constexpr Trial trial{.finalists = 24, .places = 6, .gain = 0, .repeats = 1};
/// Where every SM reads all lines, fewer shapes are left and they differ by more.
constexpr Trial same_trial{.finalists = 3, .places = 2, .repeats = 1};
/// Bytes of a launch: hundreds of microseconds, of which the launch itself is below a percent.
constexpr std::uint64_t launch_bytes = std::uint64_t{2} << 30;
/// Rates of writes and of shared lines are less at the mercy of places than those of reads.
constexpr StoppingRule short_rule{.least = 5, .most = 16};

/// A third of the L2, a power of two: it stays whole even if one of two partitions serves each SM;
/// over fewer pages the rate hangs on where they lie.
std::uint64_t choose_footprint(double l2_bytes) {
  return std::bit_floor(static_cast<std::uint64_t>(l2_bytes / 3));
}

StreamProbe make_l2_stream(StreamKind kind, std::uint64_t footprint_bytes) {
  StreamProbe stream = make_stream(kind, footprint_bytes);
  stream.path = LoadPath::past_l1;
  stream.passes =
      static_cast<int>(std::max<std::uint64_t>(launch_bytes / footprint_bytes, std::uint64_t{8}));
  return stream;
}

/// Those in which every block has tiles of its own.
std::vector<Shape> choose_apart_shapes(const DeviceInfo& gpu, const StreamProbe& stream) {
  std::vector<Shape> shapes = choose_grid_shapes(gpu, Surface::upper);
  std::erase_if(shapes, [&](const Shape& shape) {
    const std::uint64_t tile_bytes = stream_tile_bytes(with_shape(stream, shape));
    return tile_bytes * static_cast<std::uint64_t>(shape.blocks) > stream.footprint_bytes;
  });
  return shapes;
}

/// One block on each SM: blocks of one SM that want the same line would be served once by the SM.
std::vector<Shape> choose_lone_shapes(const DeviceInfo& gpu) {
  std::vector<Shape> shapes;
  for (const Shape& shape : choose_grid_shapes(gpu, Surface::whole)) {
    if (shape.blocks == gpu.sm_count && shape.block_threads >= 256) shapes.push_back(shape);
  }
  return shapes;
}

void report_best(JobRun& run, const std::string& metric, const StreamProbe& stream,
                 const std::vector<Shape>& shapes, const Trial& how, const StoppingRule& rule) {
  if (shapes.empty()) {
    return run.report(not_resolvable(
        metric, "the L2 is too small for as many lines under way as keep it at work"));
  }
  const auto points = measure_surface(run, stream, shapes, 1);
  const Best best =
      remeasure_best(run, stream, choose_finalists(run, stream, points, how), how.repeats, rule);
  report_rate(run, metric, best);
}

}  // namespace

void run_l2_throughput(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  const double l2_bytes =
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(gpu.l2_bytes));
  if (l2_bytes <= 0) {
    return run.report_rest("", Status::not_resolvable, "the size of the L2 is not known");
  }
  const std::uint64_t footprint_bytes = choose_footprint(l2_bytes);
  run.report(found("l2.footprint_bytes", static_cast<double>(footprint_bytes), 1, 1));
  const StreamProbe reads = make_l2_stream(StreamKind::read, footprint_bytes);
  const StreamProbe writes = make_l2_stream(StreamKind::write, footprint_bytes);
  report_best(run, "l2.read_bytes_per_s", reads, choose_apart_shapes(gpu, reads), trial,
              stopping_rule(run.level()));
  report_best(run, "l2.write_bytes_per_s", writes, choose_apart_shapes(gpu, writes), same_trial,
              short_rule);
  StreamProbe same = reads;
  same.order = StreamOrder::same;
  same.passes = 1;
  report_best(run, "l2.same_lines_bytes_per_s", same, choose_lone_shapes(gpu), same_trial,
              short_rule);
}

}  // namespace sonde
