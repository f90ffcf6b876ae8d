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

/// One lane on its way round its list.
struct Walker {
  const ChaseLane* lane;
  LaneTrace* trace;
  std::size_t at = 0;

  std::uint64_t next_offset() {
    const std::uint64_t offset = lane->offsets_bytes[at];
    at = at + 1 == lane->offsets_bytes.size() ? 0 : at + 1;
    return offset;
  }
};

/// Lanes that take turns access by access, so all are always at the same one. The next accesses,
/// whosever they are, are prepared.
class Turns {
 public:
  Turns(MemorySystem& memory, std::vector<Walker> walkers)
      : memory_(memory), walkers_(std::move(walkers)) {
    for (Visit& visit : ahead_) visit = prepare_next();
  }

  /// So many turns of each lane; `act` gets the trace of the lane, the number of its turn, and its
  /// load.
  template <class Act>
  void play(std::uint64_t turns, Act act) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      for (const Walker& walker : walkers_) {
        Visit& visit = ahead_[next_];
        next_ = (next_ + 1) % steps_ahead;
        const Load load = memory_.load(walker.lane->sm, visit);
        visit = prepare_next();
        act(*walker.trace, turn, load);
      }
    }
  }

  /// The lanes take turns store by store, until the longest list is done.
  void store() {
    std::size_t most = 0;
    for (const Walker& walker : walkers_) {
      most = std::max(most, walker.lane->stored_offsets_bytes.size());
    }
    for (std::size_t i = 0; i < most; ++i) {
      for (const Walker& walker : walkers_) {
        const std::vector<std::uint64_t>& stored = walker.lane->stored_offsets_bytes;
        if (i < stored.size()) memory_.store(walker.lane->sm, stored[i]);
      }
    }
  }

 private:
  Visit prepare_next() {
    Walker& walker = walkers_[prepared_];
    prepared_ = prepared_ + 1 == walkers_.size() ? 0 : prepared_ + 1;
    return memory_.prepare(walker.lane->sm, walker.next_offset());
  }

  MemorySystem& memory_;
  std::vector<Walker> walkers_;
  std::size_t prepared_ = 0;  // whose access is prepared next
  std::array<Visit, steps_ahead> ahead_;
  std::size_t next_ = 0;  // of ahead_
};

/// One lane by itself, whose visits are found once for all its rounds.
class LoneWalk {
 public:
  // More would take more memory than the host's caches have.
  static constexpr std::size_t most_visits = 1 << 17;

  LoneWalk(MemorySystem& memory, const Walker& walker)
      : memory_(memory), lane_(*walker.lane), trace_(*walker.trace) {
    visits_.reserve(lane_.offsets_bytes.size());
    for (std::uint64_t offset : lane_.offsets_bytes) {
      visits_.push_back(memory.find(lane_.sm, offset));
    }
    for (std::size_t i = 0; i < steps_ahead; ++i) memory_.expect(lane_.sm, next(expected_));
  }

  /// As Turns.
  template <class Act>
  void play(std::uint64_t turns, Act act) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      const Load load = memory_.load(lane_.sm, next(at_));
      memory_.expect(lane_.sm, next(expected_));
      act(trace_, turn, load);
    }
  }

  void store() {
    for (std::uint64_t offset : lane_.stored_offsets_bytes) memory_.store(lane_.sm, offset);
  }

 private:
  const Visit& next(std::size_t& place) const {
    const Visit& visit = visits_[place];
    place = place + 1 == visits_.size() ? 0 : place + 1;
    return visit;
  }

  MemorySystem& memory_;
  const ChaseLane& lane_;
  LaneTrace& trace_;
  std::vector<Visit> visits_;  // by place in the list
  std::size_t at_ = 0;         // of the next load
  std::size_t expected_ = 0;   // of the one steps_ahead later
};

struct Player {
  const Model& model;
  MemorySystem& memory;
  const ChaseProbe& probe;
  Noise noise;

  void time(LaneTrace& trace, std::uint64_t access, const Load& load) {
    const std::uint32_t cycles =
        noise.disturb(load.latency_cycles, load.jitter_cycles) + model.clock.sink_window_cycles;
    trace.elapsed_cycles += cycles;
    const std::uint32_t window = std::min(noise.read_window(cycles), longest_window_cycles);
    if (access < probe.recorded_accesses) trace.window_cycles.push_back(window);
    if (!trace.histogram.empty()) {
      ++trace.histogram[std::min<std::size_t>(window, histogram_bins - 1)];
    }
  }

  void amortise(LaneTrace& trace, const Load& load) {
    trace.elapsed_cycles +=
        noise.disturb(load.latency_cycles, load.jitter_cycles) + model.clock.loop_cycles;
  }

  void play(std::vector<Walker> walkers) {
    if (walkers.size() == 1 &&
        walkers.front().lane->offsets_bytes.size() <= LoneWalk::most_visits) {
      play_through(LoneWalk(memory, walkers.front()));
    } else {
      play_through(Turns(memory, std::move(walkers)));
    }
  }

  template <class Lanes>
  void play_through(Lanes lanes) {
    lanes.play(probe.warmup_accesses, [](LaneTrace&, std::uint64_t, const Load&) {});
    lanes.store();
    lanes.play(probe.timed_accesses, [this](LaneTrace& trace, std::uint64_t turn,
                                            const Load& load) { time(trace, turn, load); });
    lanes.play(probe.amortised_accesses, [this](LaneTrace& trace, std::uint64_t, const Load& load) {
      amortise(trace, load);
    });
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
    walkers.push_back({.lane = &probe.lanes[i], .trace = &trace.lanes[i]});
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
