// Chases on a simulated GPU: every load goes through the memory system one by one.

#include "device/layout/chase_shared.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

// So many accesses take about as long as the host needs to fetch from its memory.
constexpr std::size_t accesses_ahead = 4;
// Accesses of all lanes that are kept for the next rounds; more would not fit into the caches of
// the host.
constexpr std::size_t most_kept = 1 << 17;
constexpr std::size_t most_in_block = 1 << 8;

/// One lane on its way round its list. Its accesses are located ahead: block by block, or all of
/// the list once for all rounds.
class LaneChase {
 public:
  LaneChase(const MemorySystem& memory, const ChaseLane& lane, LaneTrace& trace, std::size_t most)
      : memory_(&memory), lane_(&lane), trace_(&trace), route_(memory.route_of(lane)) {
    accesses_.reserve(std::min(most, lane.offsets_bytes.size()) + accesses_ahead);
    fill_block();
  }

  const ChaseLane& lane() const { return *lane_; }
  std::size_t route() const { return route_; }
  LaneTrace& trace() const { return *trace_; }
  const Access& current() const { return accesses_[at_]; }
  const Access& ahead() const { return accesses_[at_ + accesses_ahead]; }
  void start_counting() { counts_.resize(histogram_bins); }
  void count(std::uint32_t window_cycles) {
    if (counts_.empty()) return;
    ++counts_[std::min<std::size_t>(window_cycles, histogram_bins - 1)];
  }
  std::vector<WindowCount> histogram() const { return to_histogram(std::span(counts_)); }
  void advance() {
    if (++at_ + accesses_ahead == accesses_.size()) begin_block();
  }

 private:
  /// The last accesses of a block are the first of the next one.
  [[gnu::noinline]] void begin_block() {
    at_ = 0;
    if (accesses_.size() == lane_->offsets_bytes.size() + accesses_ahead) return;
    accesses_.erase(accesses_.begin(), accesses_.end() - accesses_ahead);
    fill_block();
  }
  void fill_block() {
    while (accesses_.size() < accesses_.capacity()) {
      accesses_.push_back(memory_->locate(route_, lane_->offsets_bytes[located_]));
      located_ = located_ + 1 == lane_->offsets_bytes.size() ? 0 : located_ + 1;
    }
  }

  const MemorySystem* memory_;
  const ChaseLane* lane_;
  LaneTrace* trace_;
  std::size_t route_;
  std::vector<Access> accesses_;
  std::size_t at_ = 0;                 // of the next load, in accesses_
  std::size_t located_ = 0;            // place in the list behind the last of accesses_
  std::vector<std::uint64_t> counts_;  // timed accesses by window, if they are counted
};

/// Timed accesses that are not all recorded are counted.
bool is_counted(const ChaseProbe& probe) { return probe.timed_accesses > probe.recorded_accesses; }

struct Player {
  const Model& model;
  MemorySystem& memory;
  const ChaseProbe& probe;
  Noise noise;
  bool contended = false;  // there are co-runners

  [[gnu::noinline]] void wait_for_co_runners(const LaneChase& chase, Load& load) const {
    constexpr double scatter = 0.05;  // of a queue's length
    const std::uint32_t wait_cycles = memory.wait_cycles(chase.lane(), chase.current());
    load.latency_cycles += wait_cycles;
    load.jitter_cycles += scatter * wait_cycles;
  }

  std::uint32_t disturb(const Load& load) {
    return noise.disturb(add_cycles(load.latency_cycles, noise.drift()), load.jitter_cycles);
  }

  void time(LaneChase& chase, std::uint64_t access, const Load& load) {
    LaneTrace& trace = chase.trace();
    const std::uint32_t cycles = disturb(load) + model.clock.sink_window_cycles;
    trace.elapsed_cycles += cycles;
    const std::uint32_t window = std::min(noise.read_window(cycles), longest_window_cycles);
    if (access < probe.recorded_accesses) trace.window_cycles.push_back(window);
    chase.count(window);
  }

  void amortise(LaneTrace& trace, const Load& load) { trace.elapsed_cycles += disturb(load); }

  /// Lanes number `first` to `end` - 1, at the same time.
  void play(std::size_t first, std::size_t end, Trace& trace) {
    std::size_t all = 0;
    for (std::size_t i = first; i < end; ++i) all += probe.lanes[i].offsets_bytes.size();
    const std::uint64_t accesses =
        (probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses) * (end - first);
    // Most lists for large caches are gone round once: kept, they cost the H200's L2 9 %.
    const bool kept = all <= most_kept && accesses >= 2 * all;
    const std::size_t most = kept ? most_kept : most_in_block / (end - first) + 1;
    std::vector<LaneChase> lanes;
    for (std::size_t i = first; i < end; ++i) {
      lanes.emplace_back(memory, probe.lanes[i], trace.lanes[i], most);
      if (is_counted(probe)) lanes.back().start_counting();
    }
    take_turns(lanes, probe.warmup_accesses, [](LaneChase&, std::uint64_t, const Load&) {});
    store(lanes);
    take_turns(
        lanes, probe.timed_accesses,
        [this](LaneChase& lane, std::uint64_t turn, const Load& load) { time(lane, turn, load); });
    take_turns(
        lanes, probe.amortised_accesses,
        [this](LaneChase& lane, std::uint64_t, const Load& load) { amortise(lane.trace(), load); });
    for (const LaneChase& lane : lanes) lane.trace().histogram = lane.histogram();
  }

  /// So many turns of each lane, access by access, so all are always at the same one; `act` gets
  /// the lane, the number of its turn, and its load.
  template <class Act>
  void take_turns(std::vector<LaneChase>& lanes, std::uint64_t turns, Act act) {
    if (lanes.size() == 1) {  // in a variable of its own: 3 % on the GTX 560 Ti's L2
      LaneChase alone = std::move(lanes.front());
      for (std::uint64_t turn = 0; turn < turns; ++turn) take_turn(alone, turn, act);
      lanes.front() = std::move(alone);
      return;
    }
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      for (LaneChase& chase : lanes) take_turn(chase, turn, act);
    }
  }
  template <class Act>
  SONDE_HOT void take_turn(LaneChase& chase, std::uint64_t turn, Act& act) {
    Load load = memory.load(chase.route(), chase.current());
    if (contended) wait_for_co_runners(chase, load);
    memory.expect(chase.route(), chase.ahead());
    chase.advance();
    act(chase, turn, load);
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

}  // namespace

Trace play(const Launch& launch, const ChaseProbe& probe) {
  check_data(launch);
  Trace trace = make_trace(probe);
  // What real GPUs cannot play is refused here, too.
  trace.shared_carveout_bytes = layout::plan_chase(launch.die.info, probe).carveout_bytes;
  if (probe.peer_uuid) return play_at_peer(launch, probe, std::move(trace));
  const auto reads_buffer = [&launch](const ChaseLane& lane) {
    return launch.memory.path(lane.path).space == AddressSpace::global;
  };
  if (std::ranges::any_of(probe.lanes, reads_buffer)) {
    trace.buffer_offset_bytes = buffer_address(launch, probe.place, probe.buffer_bytes);
  }
  launch.memory.begin_probe(trace.buffer_offset_bytes, probe.buffer_bytes,
                            trace.shared_carveout_bytes, probe.lanes, launch.seed);
  launch.memory.start_co_runners(probe.co_runners);
  Player player{.model = launch.model,
                .memory = launch.memory,
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
