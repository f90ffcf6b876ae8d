// Job `global.throughput`: how fast the SMs together read, write and copy global memory, over the
// shapes of a grid (Mei and Chu 2016, section 5.1), and how fast they read the L2.
// Method: docs/methods/global-throughput.md.
#include "analysis/statistics.hpp"
#include "analysis/throughput.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int element_bytes = 16;          // the widest load: the fewest instructions for each byte
constexpr std::size_t surface_places = 5;  // median over them

/// Which shapes of a surface are tried again, at how many places, and how often the chosen ones are
/// run at each place.
struct Trial {
  std::size_t finalists = 0;
  std::size_t places = 0;
  /// Besides the best on average, those are chosen that are faster than it at one of the places by
  /// this part of its rate.
  double gain = StoppingRule{}.relative_error;
  int repeats = 1;
};
// On an H200 five places tell the rate of the memory to 0.3 %, 16 to 96 that of the L2: some shapes
// make 8.2 to 8.9 TB/s of it by the place, others 8.3 to 8.4, so that one place chooses among
// them by chance.
constexpr Trial memory_trial{.finalists = 4, .places = 2, .repeats = 3};
constexpr Trial l2_trial{.finalists = 24, .places = 6, .gain = 0, .repeats = 1};
constexpr int l2_passes = 128;  // hundreds of microseconds: the launch is then below a percent

struct Footprints {
  std::uint64_t surface_bytes = 0;  // what the L2 keeps from one repeat to the next is below 6 %
  std::uint64_t best_bytes = 0;     // ... below 1 %
};

/// 16 and 128 times the L2 that the driver names, at most a quarter of the memory; without an L2 or
/// its size 64 MiB and 512 MiB.
Footprints choose_footprints(const DeviceInfo& gpu) {
  const std::uint64_t l2_bytes = gpu.l2_bytes > 0 ? gpu.l2_bytes : 4_MiB;
  const std::uint64_t most_bytes = gpu.memory_bytes > 0 ? gpu.memory_bytes / 4 : 256_MiB;
  const auto bound = [most_bytes](std::uint64_t bytes) {
    return std::min(std::max(bytes, 64_MiB), most_bytes) & ~(large_page_bytes - 1);
  };
  return {bound(16 * l2_bytes), bound(128 * l2_bytes)};
}

/// Rates of the repeats, in bytes per second; none if the device refuses the shape (too many
/// registers, say).
std::vector<double> measure(JobRun& run, StreamProbe probe, const Shape& shape, int repeats) {
  probe.blocks = shape.blocks;
  probe.block_threads = shape.block_threads;
  probe.ilp = shape.ilp;
  probe.repeats = repeats;
  const std::string label = fmt::format("{} {}, {}", to_text(probe.kind),
                                        format_bytes(probe.footprint_bytes), to_text(shape));
  const Attempt result = attempt(run, label, probe);
  if (result.trace == nullptr) return {};
  std::vector<double> rates;
  for (double elapsed_ns : result.trace->repeat_ns) {
    if (elapsed_ns > 0) rates.push_back(stream_bytes(probe) / elapsed_ns * 1e9);
  }
  return rates;
}

/// The best shape, and its rates at drawn places in memory.
struct Best {
  Shape shape;
  Replicates rates;
};

StreamProbe make_stream(StreamKind kind, std::uint64_t footprint_bytes) {
  StreamProbe probe;
  probe.kind = kind;
  probe.element_bytes = element_bytes;
  probe.footprint_bytes = footprint_bytes;
  return probe;
}

enum class Surface { whole, upper };

/// From too few accesses in flight for the memory to many times enough: Little's law is fitted to
/// the low end, the best lies in the upper half.
std::vector<Shape> choose_shapes(const DeviceInfo& gpu, Surface surface) {
  const bool whole = surface == Surface::whole;
  std::vector<Shape> shapes;
  for (int threads : {64, 128, 256, 512, 1024}) {
    for (int blocks_per_sm : {1, 2, 4, 8, 16}) {
      for (int ilp : {1, 2, 4, 8}) {
        const bool upper = threads * blocks_per_sm >= gpu.max_threads_per_sm / 2 && ilp != 2;
        const bool more_than_fits = threads * blocks_per_sm > 4 * gpu.max_threads_per_sm;
        if (threads > gpu.max_threads_per_block || more_than_fits || !(whole || upper)) continue;
        shapes.push_back({threads, blocks_per_sm * gpu.sm_count, ilp});
      }
    }
  }
  return shapes;
}

/// The rates of the repeats at the place of a draw, as `measure`.
std::vector<double> measure_at(JobRun& run, StreamProbe stream, const Shape& shape,
                               const Draw& draw, int repeats) {
  stream.place = draw.place;
  return measure(run, stream, shape, repeats);
}

/// Runs `stream` with every shape, at the same places in memory for all.
std::vector<SurfacePoint> measure_surface(JobRun& run, const StreamProbe& stream,
                                          const std::vector<Shape>& shapes, std::size_t places) {
  std::vector<SurfacePoint> points;
  for (const Shape& shape : shapes) {
    std::vector<double> rates;
    for (std::size_t place = 0; place < places; ++place) {
      const Draw draw = draw_replicate(run, "surface", place);
      const std::vector<double> rate = measure_at(run, stream, shape, draw, 1);
      if (rate.empty()) break;  // the device refuses the shape
      rates.push_back(rate.front());
    }
    if (!rates.empty()) points.push_back({shape, median(rates)});
  }
  if (points.empty()) {
    throw DeviceError(
        fmt::format("no shape of a {} stream runs on this device", to_text(stream.kind)));
  }
  return points;
}

/// The best shapes of a surface, less those that are no faster than the best of them wherever they
/// were tried, each in the same places.
std::vector<Shape> choose_finalists(JobRun& run, const StreamProbe& stream,
                                    std::vector<SurfacePoint> points, const Trial& trial) {
  points = rank_surface(std::move(points));
  points.resize(std::min(points.size(), trial.finalists));
  std::vector<Shape> shapes;
  std::vector<std::vector<double>> rates;
  for (const SurfacePoint& point : points) {
    std::vector<double> of_shape;
    for (std::size_t place = 0; place < trial.places; ++place) {
      const Draw draw = draw_replicate(run, "trial", place);
      const std::vector<double> rate = measure_at(run, stream, point.shape, draw, 1);
      of_shape.insert(of_shape.end(), rate.begin(), rate.end());
    }
    if (of_shape.size() < trial.places) continue;
    shapes.push_back(point.shape);
    rates.push_back(std::move(of_shape));
  }
  std::vector<Shape> chosen;
  for (const std::size_t i : choose_contenders(rates, trial.gain)) {
    chosen.push_back(shapes[i]);
  }
  return chosen;
}

/// Finalists again, each at drawn places in memory: which of them is the best must not depend on
/// one place, and its rate not on the luck that chose it.
Best remeasure_best(JobRun& run, const StreamProbe& stream, const std::vector<Shape>& shapes,
                    int repeats, const StoppingRule& rule) {
  Best best;
  double best_rate = 0;
  for (const Shape& shape : shapes) {
    const std::string what =
        fmt::format("{} {} {}", to_text(stream.kind), stream.footprint_bytes, to_text(shape));
    const auto measure_draw = [&](const Draw& draw) {
      return measure_at(run, stream, shape, draw, repeats);
    };
    Replicates rates = measure_replicates(run, what, measure_draw, rule);
    if (rates.samples.empty()) continue;
    const double rate = summarize_replicates(rates.samples).center;
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = {shape, std::move(rates)};
  }
  return best;
}

void report_rate(JobRun& run, const std::string& metric, const Replicates& rates) {
  const ReplicateSummary summary = summarize_replicates(rates.samples);
  Finding finding = found_replicated(metric, summary);
  // Repeats that differ by a tenth say that something else was at work.
  finding.confidence = std::clamp(1 - 7 * summary.repeatability / summary.center, 0.0, 1.0);
  run.report(std::move(finding));
}

void report_surface(JobRun& run, const std::vector<SurfacePoint>& points) {
  std::vector<double> threads, blocks, ilp, rates;
  for (const SurfacePoint& point : points) {
    threads.push_back(point.shape.block_threads);
    blocks.push_back(point.shape.blocks);
    ilp.push_back(point.shape.ilp);
    rates.push_back(point.throughput);
  }
  const std::size_t samples = points.size() * surface_places;
  run.report(found("global.surface_block_threads", std::move(threads), 1, samples));
  run.report(found("global.surface_blocks", std::move(blocks), 1, samples));
  run.report(found("global.surface_ilp", std::move(ilp), 1, samples));
  run.report(found("global.surface_bytes_per_s", std::move(rates), 1, samples));
}

void report_littles_law(JobRun& run, const std::vector<SurfacePoint>& points) {
  const DeviceInfo& gpu = run.info();
  std::vector<double> bytes_in_flight, rates;
  for (const SurfacePoint& point : points) {
    const int resident = std::max(1, gpu.max_threads_per_sm / point.shape.block_threads);
    const int blocks_per_sm = std::min(resident, point.shape.blocks / gpu.sm_count);
    bytes_in_flight.push_back(1.0 * gpu.sm_count * blocks_per_sm * point.shape.block_threads *
                              point.shape.ilp * element_bytes);
    rates.push_back(point.throughput);
  }
  const auto law = fit_littles_law(bytes_in_flight, rates);
  if (!law) {
    return run.report_rest("global.littles_law_", Status::not_resolvable,
                           "too few shapes leave the memory unsaturated");
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
    run.report_rest(metric, Status::not_resolvable,
                    "the driver tells no memory clock, data rate or bus width");
  }
}

/// Passes over a footprint that the L2 holds, past the L1.
void report_l2(JobRun& run) {
  const double l2_bytes =
      run.number("cache.l2.size_bytes").value_or(static_cast<double>(run.info().l2_bytes));
  if (l2_bytes <= 0) {
    return run.report(not_resolvable("l2.read_bytes_per_s", "the size of the L2 is not known"));
  }
  // A third stays whole in the L2 even if one of two partitions serves each SM; over fewer pages
  // the rate hangs on where they lie.
  StreamProbe stream =
      make_stream(StreamKind::read, std::bit_floor(static_cast<std::uint64_t>(l2_bytes / 3)));
  stream.path = LoadPath::past_l1;
  stream.passes = l2_passes;
  const auto points = measure_surface(run, stream, choose_shapes(run.info(), Surface::upper), 1);
  const std::vector<Shape> shapes = choose_finalists(run, stream, points, l2_trial);
  report_rate(
      run, "l2.read_bytes_per_s",
      remeasure_best(run, stream, shapes, l2_trial.repeats, stopping_rule(run.level())).rates);
}

/// Surface over a smaller footprint, best shapes over a larger one.
std::vector<SurfacePoint> report_kind(JobRun& run, StreamKind kind, Surface surface) {
  const Footprints footprints = choose_footprints(run.info());
  const auto points = measure_surface(run, make_stream(kind, footprints.surface_bytes),
                                      choose_shapes(run.info(), surface), surface_places);
  const StreamProbe stream = make_stream(kind, footprints.best_bytes);
  const std::vector<Shape> shapes = choose_finalists(run, stream, points, memory_trial);
  const Best best =
      remeasure_best(run, stream, shapes, memory_trial.repeats, {.least = 5, .most = 10});
  report_rate(run, fmt::format("global.{}_bytes_per_s", to_text(kind)), best.rates);
  if (kind == StreamKind::read) {
    run.report(found("global.best_shape", to_text(best.shape), 1, points.size()));
  }
  return points;
}

}  // namespace

void run_global_throughput(JobRun& run) {
  const auto reads = report_kind(run, StreamKind::read, Surface::whole);
  report_surface(run, reads);
  report_littles_law(run, reads);
  report_theory(run, *run.number("global.read_bytes_per_s"));

  const Surface others = run.level() == SuiteLevel::full ? Surface::whole : Surface::upper;
  report_kind(run, StreamKind::write, others);
  report_kind(run, StreamKind::copy, others);
  report_l2(run);
}

}  // namespace sonde
