// The home of a line serves its atomics; their latency shows which partition that is, for one SM
// over all chunks, and then for all SMs over some chunks.
#include "jobs/cores/parts.hpp"
#include "jobs/cores/stream_surface.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/latency/near_far.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

/// A chunk counts if both halves have the same home. Published hashes use blocks of 4 KiB.
constexpr std::uint64_t step_bytes = stream_chunk_bytes / 2;
constexpr std::uint64_t chase_passes = 2;
/// On an H200 the rate of reads differs by 0.8 % from place to place, of writes and additions less.
constexpr StoppingRule places{.least = 5, .most = 24};
constexpr int repeats = 3;
/// Chunks of each partition that every SM accesses, and the timed passes over them.
constexpr std::size_t asked_chunks = 16;
constexpr std::uint64_t asked_passes = 2;

/// One partition: its near SMs, and the chunks whose home it is.
struct Side {
  std::vector<int> sms;
  std::vector<std::uint64_t> chunks_bytes;
};
struct Sides {
  std::array<Side, 2> of;
  double gap_cycles = 0;  // additional latency of a far atomic
};

/// Sorts chunks by the latency of an SM's atomics.
/// @throws NoAnswer
void find_homes(JobRun& run, const Draw& draw, std::uint64_t footprint_bytes, Sides& sides) {
  if (footprint_bytes < 2 * stream_chunk_bytes) {
    throw NoAnswer(Status::not_resolvable, "the size of the L2 is less than two blocks of 4 KiB");
  }
  ChaseSetup setup = at_draw(set_up_chase(run, LoadPath::atomic, RecordSpace::longest), draw);
  setup.buffer_bytes = footprint_bytes;
  const ChasePlan plan{.offsets = shuffled_order(footprint_bytes, step_bytes, draw.seed),
                       .passes = chase_passes};
  const std::vector<double> shuffled =
      position_medians(measure_chase(run, setup, "homes of chunks", plan));
  std::vector<double> latencies(shuffled.size());
  for (std::size_t i = 0; i < shuffled.size(); ++i) {
    latencies[plan.offsets[i] / step_bytes] = shuffled[i];
  }
  const auto groups = split_near_far(std::vector<std::vector<double>>{latencies});
  if (!groups) {
    throw NoAnswer(Status::not_present,
                   "atomics to all lines take the same time: the L2 has one partition");
  }
  const double middle_cycles = (groups->near_cycles + groups->far_cycles) / 2;
  sides.gap_cycles = groups->far_cycles - groups->near_cycles;
  for (std::size_t i = 0; i + 1 < latencies.size(); i += 2) {
    const bool first_far = latencies[i] > middle_cycles;
    if (first_far != (latencies[i + 1] > middle_cycles)) continue;
    sides.of[first_far ? 1 : 0].chunks_bytes.push_back(i * step_bytes);
  }
  const std::size_t fewest =
      std::min(sides.of[0].chunks_bytes.size(), sides.of[1].chunks_bytes.size());
  if (fewest * 8 < latencies.size() / 2) {
    throw NoAnswer(Status::not_resolvable,
                   "too few blocks of 4 KiB lie entirely in one partition, or nearly all of them "
                   "lie in the same partition");
  }
  for (Side& side : sides.of) side.chunks_bytes.resize(fewest);
}

/// Sorts SMs by the chunks to which their atomics are faster.
/// @throws NoAnswer
void find_sms(JobRun& run, const Draw& draw, std::uint64_t footprint_bytes, Sides& sides) {
  std::vector<std::uint64_t> offsets_bytes;  // chunks of the two partitions alternate
  for (std::size_t i = 0; i < asked_chunks; ++i) {
    for (const Side& side : sides.of) {
      offsets_bytes.push_back(side.chunks_bytes[i * side.chunks_bytes.size() / asked_chunks]);
    }
  }
  ChaseProbe probe;
  probe.buffer_bytes = footprint_bytes;
  probe.place = draw.place;
  probe.lanes = lanes_of_all_sms(run, LoadPath::atomic, offsets_bytes);
  probe.warmup_accesses = offsets_bytes.size();
  probe.timed_accesses = probe.recorded_accesses = asked_passes * offsets_bytes.size();
  probe.concurrency = Concurrency::in_turn;
  for (const LaneTrace& lane : run.ask("sides of SMs", probe).lanes) {
    std::array<std::vector<double>, 2> windows;
    for (std::size_t i = 0; i < lane.window_cycles.size(); ++i) {
      windows[i % 2].push_back(lane.window_cycles[i]);
    }
    const double difference_cycles = median(windows[1]) - median(windows[0]);
    if (std::abs(difference_cycles) < sides.gap_cycles / 2) {
      throw NoAnswer(Status::not_resolvable,
                     fmt::format("SM {} is equally far from both partitions", lane.sm));
    }
    sides.of[difference_cycles > 0 ? 0 : 1].sms.push_back(lane.sm);
  }
  if (sides.of[0].sms.empty() || sides.of[1].sms.empty()) {
    throw NoAnswer(Status::not_resolvable, "all SMs are near to one partition");
  }
}

enum class Lines { near, far, both };

/// A metric and the stream that measures it.
struct Question {
  const char* metric;
  StreamKind kind;
  Lines lines;
};
constexpr Question questions[] = {
    {"l2.near_bytes_per_s", StreamKind::read, Lines::near},
    {"l2.far_bytes_per_s", StreamKind::read, Lines::far},
    {"l2.both_bytes_per_s", StreamKind::read, Lines::both},
    {"l2.near_write_bytes_per_s", StreamKind::write, Lines::near},
    {"l2.far_write_bytes_per_s", StreamKind::write, Lines::far},
    {"l2.near_atomics_per_s", StreamKind::add, Lines::near},
    {"l2.far_atomics_per_s", StreamKind::add, Lines::far},
};

std::vector<StreamGroup> make_groups(const Sides& sides, Lines lines) {
  std::vector<StreamGroup> groups;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::size_t wanted = lines == Lines::far ? 1 - side : side;
    StreamGroup& group =
        groups.emplace_back(StreamGroup{sides.of[side].sms, sides.of[wanted].chunks_bytes});
    if (lines != Lines::both) continue;
    const std::vector<std::uint64_t>& others = sides.of[1 - side].chunks_bytes;
    group.chunk_offsets_bytes.insert(group.chunk_offsets_bytes.end(), others.begin(), others.end());
    std::ranges::sort(group.chunk_offsets_bytes);
  }
  return groups;
}

/// One block on each SM with more loads in flight than the L2 needs. All streams of all runs have
/// this shape, so that only the partition differs.
Shape full_shape(const DeviceInfo& gpu) {
  return {.block_threads = gpu.max_threads_per_block, .blocks = gpu.sm_count, .ilp = 4};
}

/// Answers in the order of `questions`; empty if there is no stream of the kind.
using Answers = std::array<Best, std::size(questions)>;

/// @throws NoAnswer
Answers measure_sides(JobRun& run, std::span<const StreamProbe> streams) {
  const std::uint64_t footprint_bytes = streams.front().footprint_bytes;
  const Shape shape = full_shape(run.info());
  Answers answers;
  const auto measure = [&](const Draw& draw) {
    Sides sides;
    find_homes(run, draw, footprint_bytes, sides);
    find_sms(run, draw, footprint_bytes, sides);
    std::vector<double> of_first;
    for (StreamProbe stream : streams) {
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (questions[i].kind != stream.kind) continue;
        stream.groups = make_groups(sides, questions[i].lines);
        answers[i].shape = shape;
        std::vector<double> rates = measure_at(run, stream, shape, draw, repeats);
        if (of_first.empty()) of_first = rates;
        answers[i].rates.samples.push_back(std::move(rates));
      }
    }
    return of_first;
  };
  measure_replicates(run, "sides", measure, places);
  return answers;
}

}  // namespace

void report_near_far(JobRun& run, std::span<const StreamProbe> streams) {
  measure_part(run, {"l2.near_", "l2.far_", "l2.both_"}, [&] {
    const Answers answers = measure_sides(run, streams);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const std::vector<std::vector<double>>& samples = answers[i].rates.samples;
      if (samples.empty()) {
        run.leave_open(questions[i].metric, "no shape of this stream could be run");
      } else if (std::ranges::any_of(samples, &std::vector<double>::empty)) {
        run.leave_open(questions[i].metric, "the device refuses streams of groups of SMs");
      } else {
        report_rate(run, questions[i].metric, answers[i]);
      }
    }
  });
}

}  // namespace sonde
