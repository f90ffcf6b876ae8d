// Chases on a simulated GPU: each load goes through the memory system.

#include "device/layout/chase_shared.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sonde::sim {
namespace {

/// Puts the windows of a lane into its trace: the first ones one by one, and if there are more, all
/// of them into the histogram.
class WindowRecord {
 public:
  WindowRecord(const ChaseProbe& probe, LaneTrace& trace)
      : trace_(&trace),
        recorded_(probe.recorded_accesses),
        counts_(probe.timed_accesses > probe.recorded_accesses ? histogram_bins : 0) {}

  void add(std::uint32_t window_cycles) {
    if (trace_->window_cycles.size() < recorded_) trace_->window_cycles.push_back(window_cycles);
    if (!counts_.empty()) ++counts_[std::min<std::size_t>(window_cycles, histogram_bins - 1)];
  }
  void finish() const { trace_->histogram = to_histogram(std::span(counts_)); }
  LaneTrace& trace() const { return *trace_; }

 private:
  LaneTrace* trace_;
  std::uint64_t recorded_;
  std::vector<std::uint64_t> counts_;
};

/// Goes round the list of a lane, and locates the next accesses ahead.
class LaneChase {
 public:
  LaneChase(const MemorySystem& memory, const ChaseLane& lane, WindowRecord record)
      : memory_(&memory), lane_(&lane), record_(std::move(record)), route_(memory.route_of(lane)) {
    for (Access& access : ahead_) access = locate();
  }

  const ChaseLane& lane() const { return *lane_; }
  std::size_t route() const { return route_; }
  WindowRecord& record() { return record_; }
  Access next() {
    Access& oldest = ahead_[turn_++ % ahead_.size()];
    return std::exchange(oldest, locate());
  }

 private:
  Access locate() {
    const std::uint64_t offset_bytes = lane_->offsets_bytes[at_];
    if (++at_ == lane_->offsets_bytes.size()) at_ = 0;
    return memory_->locate(route_, offset_bytes);
  }

  const MemorySystem* memory_;
  const ChaseLane* lane_;
  WindowRecord record_;
  std::size_t route_;
  std::size_t at_ = 0;           // in the list
  std::array<Access, 4> ahead_;  // enough for the host to fetch from its memory
  std::size_t turn_ = 0;
};

struct Player {
  MemorySystem& memory;
  const ChaseProbe& probe;
  Noise noise;
  bool contended = false;  // there are co-runners

  [[gnu::noinline]] void wait_for_co_runners(const LaneChase& chase, const Access& access,
                                             Load& load) const {
    constexpr double scatter = 0.05;  // of the wait
    const std::uint32_t wait_cycles = memory.wait_cycles(chase.lane(), access);
    load.latency_cycles += wait_cycles;
    load.jitter_cycles += scatter * wait_cycles;
  }

  void time(WindowRecord& record, const Load& load) {
    record.add(noise.time(record.trace(), load.latency_cycles, load.jitter_cycles));
  }
  void amortise(LaneTrace& trace, const Load& load) {
    trace.elapsed_cycles += noise.disturb(load.latency_cycles, load.jitter_cycles);
  }

  /// Plays the lanes `first` to `end` - 1 at the same time.
  void play(std::size_t first, std::size_t end, Trace& trace) {
    std::vector<LaneChase> lanes;
    for (std::size_t i = first; i < end; ++i) {
      lanes.emplace_back(memory, probe.lanes[i], WindowRecord(probe, trace.lanes[i]));
    }
    take_turns(lanes, probe.warmup_accesses, [](WindowRecord&, const Load&) {});
    store(lanes);
    take_turns(lanes, probe.timed_accesses,
               [this](WindowRecord& record, const Load& load) { time(record, load); });
    take_turns(lanes, probe.amortised_accesses,
               [this](WindowRecord& record, const Load& load) { amortise(record.trace(), load); });
    for (LaneChase& lane : lanes) lane.record().finish();
  }

  /// Plays `turns` accesses of each lane, access by access, so that all lanes are always at the
  /// same one. `act` gets the lane's record and its load.
  template <class Act>
  void take_turns(std::vector<LaneChase>& lanes, std::uint64_t turns, Act act) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      for (LaneChase& chase : lanes) {
        const Access access = chase.next();
        Load load = memory.load(chase.route(), access);
        if (contended) wait_for_co_runners(chase, access, load);
        act(chase.record(), load);
      }
    }
  }

  /// The lanes take turns store by store, until the longest list is done.
  void store(const std::vector<LaneChase>& lanes) {
    std::size_t most = 0;
    for (const LaneChase& chase : lanes) {
      most = std::max(most, chase.lane().stored_offsets_bytes.size());
    }
    for (std::size_t i = 0; i < most; ++i) {
      for (const LaneChase& chase : lanes) {
        const std::vector<std::uint64_t>& stored = chase.lane().stored_offsets_bytes;
        if (i < stored.size()) memory.store(chase.route(), stored[i]);
      }
    }
  }
};

Trace make_trace(const ChaseProbe& probe) {
  Trace trace;
  for (const ChaseLane& lane : probe.lanes) {
    LaneTrace& made = trace.lanes.emplace_back();
    made.sm = lane.sm;
    made.accesses = probe.timed_accesses + probe.amortised_accesses;
    made.window_cycles.reserve(probe.recorded_accesses);
  }
  return trace;
}

/// A chase through the memory of a peer. Only the link counts: no cache of this GPU keeps lines of
/// a peer, and the peer's L2 holds all of them.
void chase_peer(const Launch& launch, const ChaseProbe& probe, Trace& trace) {
  const PeerModel& link = find_link(launch.peers, *probe.peer_uuid);
  Noise noise(launch.model, launch.seed);
  for (LaneTrace& lane : trace.lanes) {
    WindowRecord record(probe, lane);
    for (std::uint64_t access = 0; access < probe.timed_accesses; ++access) {
      record.add(noise.time(lane, link.latency_cycles, link.jitter_cycles));
    }
    for (std::uint64_t access = 0; access < probe.amortised_accesses; ++access) {
      lane.elapsed_cycles += noise.disturb(link.latency_cycles, link.jitter_cycles);
    }
    record.finish();
  }
}

}  // namespace

Trace play(const Launch& launch, const ChaseProbe& probe) {
  check_data(launch);
  Trace trace = make_trace(probe);
  // Refuses what real GPUs cannot play.
  trace.shared_carveout_bytes = layout::plan_chase(launch.die.info, probe).carveout_bytes;
  if (probe.peer_uuid) {
    chase_peer(launch, probe, trace);
    return trace;
  }
  const auto reads_buffer = [&launch](const ChaseLane& lane) {
    return launch.memory.path(lane.path).space == AddressSpace::global;
  };
  if (std::ranges::any_of(probe.lanes, reads_buffer)) {
    trace.buffer_offset_bytes = buffer_address(launch, probe.place, probe.buffer_bytes);
  }
  launch.memory.begin_probe(trace.buffer_offset_bytes, probe.buffer_bytes,
                            trace.shared_carveout_bytes, probe.lanes, launch.seed);
  launch.memory.start_co_runners(probe.co_runners);
  Player player{.memory = launch.memory,
                .probe = probe,
                .noise = Noise(launch.model, launch.seed),
                .contended = !probe.co_runners.empty()};
  const std::size_t count = probe.lanes.size();
  const std::size_t step = probe.concurrency == Concurrency::together ? count : 1;
  for (std::size_t first = 0; first < count; first += step) {
    player.play(first, first + step, trace);
  }
  return trace;
}

}  // namespace sonde::sim
