// Chases and streams through the memory of the other GPUs of a node, link by link.
#include "jobs/peer/row.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/access_order.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace sonde {
namespace {

// Larger than any L2, so that streams use the memory. Every other GPU of the node allocates as much
// on this one.
constexpr std::uint64_t buffer_bytes = 256_MiB;
constexpr std::uint64_t page_bytes = 2_MiB;  // one translation
constexpr std::uint64_t step_bytes = 4_KiB;  // beyond the reach of any prefetch
constexpr std::uint64_t peer_chase_accesses = page_bytes / step_bytes;
constexpr int repeats = 3;
// The launch, some microseconds, then takes less than a percent.
constexpr double repeat_s = 3e-3;

/// How much time a suite spends.
struct Effort {
  std::size_t replicates;
  // All GPUs at once: long enough that they surely overlap, in much shorter pieces.
  double together_s;
  double piece_s;
};
constexpr Effort standard_effort{.replicates = 3, .together_s = 0.1, .piece_s = 0.01};
constexpr Effort full_effort{.replicates = 5, .together_s = 0.5, .piece_s = 0.02};

const Effort& effort_of(const JobRun& run) {
  return run.level() == SuiteLevel::full ? full_effort : standard_effort;
}

ChaseProbe make_chase(const std::string& uuid, const Draw& draw) {
  Random random(draw.seed);
  const std::uint64_t base = random.below(buffer_bytes / page_bytes) * page_bytes;
  Offsets offsets = shuffled_order(page_bytes, step_bytes, draw.seed);
  for (std::uint64_t& offset : offsets) offset += base;
  ChaseProbe probe;
  probe.buffer_bytes = buffer_bytes;
  probe.lanes = {{.sm = draw.sm, .offsets_bytes = std::move(offsets), .path = LoadPath::past_l1}};
  probe.warmup_accesses = probe.timed_accesses = probe.recorded_accesses = peer_chase_accesses;
  probe.peer_uuid = uuid;
  return probe;
}

/// Rates of the repeats, in bytes per second.
std::vector<double> rates_of(const StreamProbe& probe, const Trace& trace) {
  std::vector<double> rates;
  for (const double elapsed_ns : trace.repeat_ns) {
    rates.push_back(stream_bytes(probe) / elapsed_ns * 1e9);
  }
  return rates;
}

/// Chooses the best shape at the first peer, and uses it for all, so that only the links differ.
StreamProbe choose_shape(JobRun& run, const PeerRow& row, const LinkKind& kind) {
  std::size_t first = 0;
  while (!row.has(first)) ++first;
  StreamProbe probe;
  probe.kind = kind.stream;
  probe.path = LoadPath::past_l1;
  probe.block_threads = std::min(512, run.info().max_threads_per_block);
  probe.footprint_bytes = buffer_bytes;
  probe.peer_uuid = row.gpus[first].uuid;
  StreamProbe best = probe;
  double best_rate = 0;
  for (const int blocks_per_sm : {1, 2, 4}) {
    for (const int ilp : {1, 4}) {
      probe.blocks = blocks_per_sm * run.info().sm_count;
      probe.ilp = ilp;
      const Trace trace = run.ask(
          fmt::format("{} by {} blocks, ilp {}", to_text(kind.stream), probe.blocks, ilp), probe);
      const double rate = median(rates_of(probe, trace));
      if (rate <= best_rate) continue;
      best_rate = rate;
      best = probe;
    }
  }
  const double passes = repeat_s * best_rate / static_cast<double>(buffer_bytes);
  best.passes = std::max(1, static_cast<int>(std::min(passes, 64.0)));
  best.repeats = repeats;
  return best;
}

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::size_t PeerRow::links() const {
  std::size_t count = 0;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) count += has(gpu) ? 1 : 0;
  return count;
}

std::string PeerRow::remark() const {
  std::vector<std::string> texts;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    if (refusals[gpu].empty()) continue;
    texts.push_back(fmt::format("rank {}: {}", gpus[gpu].rank, refusals[gpu]));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

PeerRow meet_peers(JobRun& run) {
  const NodeGpus& node = run.node();
  PeerRow row{
      .gpus = node.gpus, .refusals = std::vector<std::string>(node.gpus.size()), .own = node.own};
  for (std::size_t gpu = 0; gpu < row.gpus.size(); ++gpu) {
    if (gpu == row.own) continue;
    if (!row.gpus[gpu].reachable) {
      row.refusals[gpu] =
          "it is not visible here (cgroup, CUDA_VISIBLE_DEVICES or MIG), let each rank see all "
          "GPUs of its node";
      continue;
    }
    const auto refusal = refusal_of([&] {
      run.run(fmt::format("first loads from rank {}", row.gpus[gpu].rank),
              make_chase(row.gpus[gpu].uuid, {.seed = run.seed()}));
    });
    row.refusals[gpu] = refusal.value_or("");
  }
  return row;
}

MeasuredRow measure_row(JobRun& run, const PeerRow& row) {
  const double overhead_cycles = window_overhead_cycles(run);
  MeasuredRow measured;
  measured.latency_cycles.resize(row.gpus.size());
  for (std::size_t k = 0; k < link_kinds.size(); ++k) {
    measured.shapes[k] = choose_shape(run, row, link_kinds[k]);
    measured.rates[k].resize(row.gpus.size());
  }
  for (std::size_t number = 0; number < effort_of(run).replicates; ++number) {
    for (std::size_t gpu = 0; gpu < row.gpus.size(); ++gpu) {
      if (!row.has(gpu)) continue;
      const std::string label = fmt::format("rank {}, replicate {}", row.gpus[gpu].rank, number);
      const Draw draw = draw_replicate(run, row.gpus[gpu].uuid, number);
      const Trace& chase = run.run("loads from " + label, make_chase(row.gpus[gpu].uuid, draw));
      measured.latency_cycles[gpu].push_back(latencies_of(chase, overhead_cycles));
      for (std::size_t k = 0; k < link_kinds.size(); ++k) {
        StreamProbe probe = measured.shapes[k];
        probe.peer_uuid = row.gpus[gpu].uuid;
        const Trace& trace =
            run.run(fmt::format("{} with {}", to_text(link_kinds[k].stream), label), probe);
        measured.rates[k][gpu].push_back(rates_of(probe, trace));
      }
    }
  }
  return measured;
}

std::vector<ReadPiece> read_pieces(JobRun& run, const PeerRow& row, StreamProbe shape,
                                   double usual_rate, std::int64_t begin_unix_ns) {
  StreamProbe probe = std::move(shape);
  probe.peer_uuid = row.gpus[row.next()].uuid;
  const auto& [replicates, together_s, piece_s] = effort_of(run);
  const double expected_s = stream_bytes(probe) / usual_rate;
  probe.repeats = std::clamp(static_cast<int>(std::ceil(piece_s / expected_s)), 1, 64);
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  std::vector<ReadPiece> pieces;
  for (std::int64_t at = begin_unix_ns; at < begin_unix_ns + ns(together_s);) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(at - now_unix_ns()));
    const std::int64_t begin_ns = now_unix_ns();
    const Trace& trace = run.run(fmt::format("all at once, piece {}", pieces.size()), probe);
    pieces.push_back({.span = {begin_ns, now_unix_ns()}, .rates = rates_of(probe, trace)});
    at = std::max(at + ns(piece_s), now_unix_ns());
  }
  return pieces;
}

}  // namespace sonde
