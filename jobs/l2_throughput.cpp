// Job `l2.throughput`: rates at which all SMs together read and write lines in the L2, read the
// same lines, make additions, and use near and far partitions. Method:
// docs/methods/l2-throughput.md.
#include "base/gpu_facts.hpp"
#include "jobs/chase/known_l2.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/cores/stream_surface.hpp"
#include "jobs/run/attempt.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace sonde {
namespace {

// On an H200, 16 to 96 places give the rate of the L2 to 0.3 %. One place would choose among shapes
// by chance: some give 8.2 to 8.9 TB/s depending on the place, others 8.3 to 8.4.
constexpr Trial trial{.finalists = 24, .places = 6};
/// For writes, additions, and reads of the same lines by all SMs.
constexpr Trial short_trial{.finalists = 3, .places = 2};
/// Bytes per launch: hundreds of microseconds, of which the launch takes less than a percent.
constexpr std::uint64_t launch_bytes = std::uint64_t{2} << 30;
/// Rates of writes and additions depend less on the place than those of reads.
constexpr StoppingRule short_rule{.least = 10, .most = 32};
/// On an H200, reads vary by 2 % from place to place, as do reads of shared lines and additions to
/// one line. A mean over this many places repeats to half a percent.
constexpr StoppingRule long_rule{.least = 96, .most = 160};

/// The words of a warp, and as many additions of each SM to them as take some hundred microseconds
/// if the line needs a few cycles for those of a warp.
constexpr std::uint64_t one_line_bytes = warp_threads * 4;
constexpr int one_line_passes = 1024;

/// A third of the L2, as a power of two: it fits even if one of two partitions serves each SM. With
/// fewer pages the rate would depend on their places.
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

/// Shapes in which every block has its own tiles.
std::vector<Shape> choose_apart_shapes(const JobRun& run, const StreamProbe& stream) {
  std::vector<Shape> shapes = choose_grid_shapes(run, Surface::upper);
  std::erase_if(shapes, [&](const Shape& shape) {
    const std::uint64_t tile_bytes = stream_tile_bytes(with_shape(stream, shape));
    return tile_bytes * static_cast<std::uint64_t>(shape.blocks) > stream.footprint_bytes;
  });
  return shapes;
}

/// Shapes with one block per SM: an SM would load a line once for all of its blocks.
std::vector<Shape> choose_lone_shapes(const JobRun& run) {
  std::vector<Shape> shapes;
  for (const Shape& shape : choose_grid_shapes(run, Surface::whole)) {
    if (shape.blocks == run.info().sm_count && shape.block_threads >= 256) shapes.push_back(shape);
  }
  return shapes;
}

/// @return true if there is an answer
bool report_best(JobRun& run, const std::string& metric, const StreamProbe& stream,
                 const std::vector<Shape>& shapes, const Trial& how, const StoppingRule& rule) {
  return measure_part(run, {metric}, [&] {
    if (shapes.empty()) {
      throw NoAnswer(Status::not_resolvable,
                     "the L2 is too small for the lines in flight that would saturate it");
    }
    const Shape shape = choose_shape(run, stream, measure_surface(run, stream, shapes), how);
    report_rate(run, metric, measure_best(run, stream, shape, 1, rule));
  });
}

/// Warps do not wait for the results of additions, so few shapes suffice.
std::vector<Shape> choose_adding_shapes(const DeviceInfo& gpu) {
  std::vector<Shape> shapes;
  for (const int threads : {256, 512, 1024}) {
    for (const int ilp : {1, 4}) {
      if (threads > gpu.max_threads_per_block) continue;
      shapes.push_back({threads, gpu.max_threads_per_sm / threads * gpu.sm_count, ilp});
    }
  }
  return shapes;
}

/// @return the stream of additions to different lines; nullopt if there is no answer
std::optional<StreamProbe> report_atomics(JobRun& run, std::uint64_t footprint_bytes) {
  StreamProbe adds = make_l2_stream(StreamKind::add, footprint_bytes);
  adds.path = LoadPath::all_levels;
  adds.element_bytes = 4;
  const bool found_rate = report_best(run, "l2.atomics_per_s", adds,
                                      choose_adding_shapes(run.info()), short_trial, short_rule);
  StreamProbe one_line = adds;
  one_line.order = StreamOrder::same;
  one_line.footprint_bytes = one_line_bytes;
  one_line.passes = one_line_passes;
  report_best(run, "l2.same_line_atomics_per_s", one_line,
              {{static_cast<int>(warp_threads), run.info().sm_count, 1}}, short_trial,
              run.level() == SuiteLevel::quick ? short_rule : long_rule);
  return found_rate ? std::optional(adds) : std::nullopt;
}

}  // namespace

void run_l2_throughput(JobRun& run) {
  const double l2_bytes = known_l2_parts(run) * known_l2_part_bytes(run);
  if (l2_bytes <= 0) {
    return run.leave_open("", "the size of the L2 is not known");
  }
  const std::uint64_t footprint_bytes = choose_footprint(l2_bytes);
  run.report("l2.footprint_bytes", footprint_bytes, 1);
  const StreamProbe reads = make_l2_stream(StreamKind::read, footprint_bytes);
  const StreamProbe writes = make_l2_stream(StreamKind::write, footprint_bytes);
  const bool is_quick = run.level() == SuiteLevel::quick;
  const StoppingRule rule = is_quick ? stopping_rule(run.level()) : long_rule;
  const bool reads_it =
      report_best(run, "l2.read_bytes_per_s", reads, choose_apart_shapes(run, reads), trial, rule);
  const bool writes_it = report_best(run, "l2.write_bytes_per_s", writes,
                                     choose_apart_shapes(run, writes), short_trial, short_rule);
  StreamProbe same = reads;
  same.order = StreamOrder::same;
  same.passes = 1;
  report_best(run, "l2.same_lines_bytes_per_s", same, choose_lone_shapes(run), short_trial,
              is_quick ? short_rule : long_rule);
  const auto adds = report_atomics(run, footprint_bytes);
  if (is_quick) return run.skip_rest("");
  std::vector<StreamProbe> streams;
  if (reads_it) streams.push_back(reads);
  if (writes_it) streams.push_back(writes);
  if (adds) streams.push_back(*adds);
  if (!streams.empty()) return report_near_far(run, streams);
  run.leave_open("", "no stream fits into the L2");
}

}  // namespace sonde
