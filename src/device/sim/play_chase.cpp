// Chases on a simulated GPU: every load goes through the memory system one by one.

#include "device/sim/noise.hpp"
#include "device/sim/play.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sonde::sim {
namespace {

// So many accesses take about as long as the host needs to fetch from its memory.
constexpr std::size_t steps_ahead = 4;

/// One lane on its way round its list, with the next visits prepared.
class Walker {
 public:
  Walker(const MemorySystem& memory, const ChaseLane& lane, LaneTrace& trace)
      : memory_(&memory), lane_(&lane), trace_(&trace) {
    for (Visit& visit : ahead_) visit = prepare_next();
  }

  const ChaseLane& lane() const { return *lane_; }
  LaneTrace& trace() const { return *trace_; }

  Load step(MemorySystem& memory) {
    Visit& next = ahead_[turn_];
    turn_ = (turn_ + 1) % steps_ahead;
    const Visit visit = std::exchange(next, prepare_next());
    return memory.load(lane_->sm, visit);
  }

 private:
  Visit prepare_next() {
    const std::uint64_t offset = lane_->offsets_bytes[at_];
    at_ = at_ + 1 == lane_->offsets_bytes.size() ? 0 : at_ + 1;
    return memory_->prepare(lane_->sm, offset);
  }

  const MemorySystem* memory_;
  const ChaseLane* lane_;
  LaneTrace* trace_;
  std::size_t at_ = 0;
  std::array<Visit, steps_ahead> ahead_;
  std::size_t turn_ = 0;
};

struct Player {
  const Model& model;
  MemorySystem& memory;
  const ChaseProbe& probe;
  Noise noise;

  void warm(Walker& walker) { walker.step(memory); }

  void time(Walker& walker, std::uint64_t access) {
    const Load load = walker.step(memory);
    const std::uint32_t cycles =
        noise.disturb(load.latency_cycles, load.jitter_cycles) + model.clock.sink_window_cycles;
    LaneTrace& trace = walker.trace();
    trace.elapsed_cycles += cycles;
    const std::uint32_t window = std::min(noise.read_window(cycles), longest_window_cycles);
    if (access < probe.recorded_accesses) trace.window_cycles.push_back(window);
    if (!trace.histogram.empty()) {
      ++trace.histogram[std::min<std::size_t>(window, histogram_bins - 1)];
    }
  }

  void amortise(Walker& walker) {
    const Load load = walker.step(memory);
    walker.trace().elapsed_cycles +=
        noise.disturb(load.latency_cycles, load.jitter_cycles) + model.clock.loop_cycles;
  }

  /// The walkers take turns store by store, until the longest list is done.
  void store(const std::vector<Walker>& walkers) {
    std::size_t most = 0;
    for (const Walker& walker : walkers) {
      most = std::max(most, walker.lane().stored_offsets_bytes.size());
    }
    for (std::size_t i = 0; i < most; ++i) {
      for (const Walker& walker : walkers) {
        const std::vector<std::uint64_t>& stored = walker.lane().stored_offsets_bytes;
        if (i < stored.size()) memory.store(walker.lane().sm, stored[i]);
      }
    }
  }

  /// The walkers take turns access by access, so all are always at the same one.
  void play(std::vector<Walker> walkers) {
    const auto each = [&](std::uint64_t accesses, auto&& act) {
      for (std::uint64_t i = 0; i < accesses; ++i) {
        for (Walker& walker : walkers) act(walker, i);
      }
    };
    each(probe.warmup_accesses, [this](Walker& walker, std::uint64_t) { warm(walker); });
    store(walkers);
    each(probe.timed_accesses, [this](Walker& walker, std::uint64_t i) { time(walker, i); });
    each(probe.amortised_accesses, [this](Walker& walker, std::uint64_t) { amortise(walker); });
  }
};

/// Shared memory that the block of a lane keeps for its records, its sink and its histogram.
std::uint64_t record_block_bytes(const ChaseProbe& probe) {
  if (probe.timed_accesses == 0) return 0;
  const bool histogram = probe.timed_accesses > probe.recorded_accesses;
  return probe.recorded_accesses * record_bytes + record_overhead_bytes +
         (histogram ? histogram_bins * sizeof(std::uint32_t) : 0);
}

Trace make_trace(const ChaseProbe& probe) {
  Trace trace;
  for (const ChaseLane& lane : probe.lanes) {
    LaneTrace& made = trace.lanes.emplace_back();
    made.sm = lane.sm;
    made.accesses = probe.timed_accesses + probe.amortised_accesses;
    made.window_cycles.reserve(probe.recorded_accesses);
    if (probe.timed_accesses > probe.recorded_accesses) made.histogram.resize(histogram_bins);
  }
  return trace;
}

}  // namespace

Trace play(const Launch& launch, const ChaseProbe& probe) {
  check_data(launch);
  Trace trace = make_trace(probe);
  trace.shared_carveout_bytes =
      choose_carveout(launch.die.info, record_block_bytes(probe), probe.shared_carveout_bytes);
  std::vector<int> sms;
  for (const ChaseLane& lane : probe.lanes) sms.push_back(lane.sm);
  launch.memory.begin_probe(launch.memory.path(probe.path), probe.buffer_bytes,
                            trace.shared_carveout_bytes, sms, launch.seed);
  std::vector<Walker> walkers;
  for (std::size_t i = 0; i < probe.lanes.size(); ++i) {
    walkers.emplace_back(launch.memory, probe.lanes[i], trace.lanes[i]);
  }
  Player player{launch.model, launch.memory, probe, Noise(launch.model, launch.seed)};
  if (probe.concurrency == Concurrency::together) {
    player.play(walkers);
  } else {
    for (const Walker& walker : walkers) player.play({walker});
  }
  return trace;
}

}  // namespace sonde::sim
