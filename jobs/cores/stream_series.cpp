// Streams besides the surface, each in the shape that the surface chose.
#include "jobs/cores/stream_series.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <array>
#include <numeric>

namespace sonde {
namespace {

constexpr std::array element_sizes_bytes{4, 8, 16};
constexpr std::size_t element_places = 2;
constexpr StoppingRule hint_rule{.least = 5, .most = 10};
/// Which of nine shapes is the best hangs on the place: all are tried, each at several.
constexpr Trial bulk_trial{.finalists = 9, .places = 4, .gain = 0, .repeats = 1};
constexpr StoppingRule bulk_rule{.least = 5, .most = 16};
/// Thousands of windows tell a mean of some hundred cycles, with a deviation of as many, to a
/// percent.
constexpr int timed_tiles = 4096;
constexpr std::size_t latency_places = 12;
/// Of the shape under whose load they are timed: all threads of an SM with a load each, the same on
/// every device of a model. Which shape is the fastest differs from run to run.
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

/// Tiles of 4 to 16 KiB, bulk_stages of them under way in each of a few blocks: from less to more
/// than an SM needs under way.
std::vector<Shape> choose_bulk_shapes(const DeviceInfo& gpu) {
  std::vector<Shape> shapes;
  for (const int blocks_per_sm : {1, 2, 4}) {
    for (const int ilp : {8, 16, 32}) {
      shapes.push_back({bulk_threads, blocks_per_sm * gpu.sm_count, ilp});
    }
  }
  return shapes;
}

/// Mean latency of timed tiles in nanoseconds, and the bytes that it keeps under way.
struct TileTimes {
  std::vector<std::vector<double>> latency_ns;  // [place][SM]
  std::vector<double> bytes_in_flight;          // [place], by the rate of the same launch
};

TileTimes time_tiles(JobRun& run, StreamProbe stream, const Shape& shape, double overhead_cycles) {
  const double hz = sm_clock_hz(run);
  stream = with_shape(std::move(stream), shape);
  stream.timed_tiles = timed_tiles;
  TileTimes times;
  for (std::size_t number = 0; number < latency_places; ++number) {
    stream.place = draw_replicate(run, "timed tiles", number).place;
    const Trace trace = run.ask(fmt::format("timed tiles, {}", to_text(shape)), stream);
    std::vector<double>& means_ns = times.latency_ns.emplace_back();
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
  }
  return times;
}

}  // namespace

void report_by_element(JobRun& run, std::span<const ShapedStream> best) {
  std::vector<double> sizes_bytes(element_sizes_bytes.begin(), element_sizes_bytes.end());
  run.report(found("global.element_bytes", std::move(sizes_bytes), 1, 1));
  for (const ShapedStream& of_kind : best) {
    StreamProbe stream = of_kind.stream;
    std::vector<double> series;
    for (const int size_bytes : element_sizes_bytes) {
      stream.element_bytes = size_bytes;
      const std::vector<double> rates =
          measure_at_places(run, stream, of_kind.shape, "elements", element_places);
      series.push_back(rates.empty() ? 0 : median(rates));
    }
    run.report(found(fmt::format("global.{}_by_element_bytes_per_s", to_text(stream.kind)),
                     std::move(series), 1, element_places * element_sizes_bytes.size()));
  }
}

void report_hints(JobRun& run, std::span<const ShapedStream> best) {
  for (const HintOfKind& asked : hints) {
    for (const ShapedStream& of_kind : best) {
      if (of_kind.stream.kind != asked.kind) continue;
      StreamProbe stream = of_kind.stream;
      stream.hint = asked.hint;
      std::vector<Shape> shapes = of_kind.others;
      shapes.push_back(of_kind.shape);
      const Best rates = remeasure_best(run, stream, shapes, 1, hint_rule);
      if (rates.rates.samples.empty()) {
        run.report(not_resolvable(asked.metric, "the device refuses the hint"));
      } else {
        report_rate(run, asked.metric, rates);
      }
    }
  }
}

void report_bulk(JobRun& run, std::uint64_t surface_bytes, std::uint64_t best_bytes) {
  for (const StreamKind kind : {StreamKind::read, StreamKind::copy}) {
    StreamProbe stream = make_stream(kind, surface_bytes);
    stream.engine = StreamEngine::bulk;
    const std::vector<Shape> shapes = choose_bulk_shapes(run.info());
    const std::string metric = fmt::format("global.bulk_{}_bytes_per_s", to_text(kind));
    const Attempt first = attempt(run, "bulk", with_shape(stream, shapes.front()));
    if (first.trace == nullptr) {
      run.report(not_resolvable(metric, first.refusal));
      continue;
    }
    const auto points = measure_surface(run, stream, shapes, 1);
    stream.footprint_bytes = best_bytes;
    report_rate(run, metric,
                remeasure_best(run, stream, choose_finalists(run, stream, points, bulk_trial),
                               bulk_trial.repeats, bulk_rule));
  }
}

void report_latency_of_tiles(JobRun& run, const StreamProbe& reads) {
  const double overhead_cycles = window_overhead_cycles(run);
  const Shape light{static_cast<int>(warp_threads), run.info().sm_count, 1};
  const TileTimes alone = time_tiles(run, reads, light, overhead_cycles);
  const DeviceInfo& gpu = run.info();
  const int threads = std::min(gpu.max_threads_per_block, full_block_threads);
  const Shape full{threads, gpu.max_threads_per_sm / threads * gpu.sm_count, 1};
  const TileTimes loaded = time_tiles(run, reads, full, overhead_cycles);
  run.report(found_replicated("global.light_latency_ns", Replicates{alone.latency_ns}));
  run.report(found_replicated("global.loaded_latency_ns", Replicates{loaded.latency_ns}),
             to_text(full));
  run.report(found("global.loaded_bytes_in_flight", median(loaded.bytes_in_flight), 1,
                   loaded.bytes_in_flight.size()));
}

}  // namespace sonde
