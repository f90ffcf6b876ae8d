// Streams of constants on a simulated GPU: a few rows of each thread go through a queue, the others
// are extrapolated at the same pace.
#include "base/gpu_facts.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <queue>

namespace sonde::sim {
namespace {

// Loads of an SM that are played, but eight rows of each thread at least: the pace of such a small
// queue is constant well before.
constexpr std::uint64_t played_loads = 512;
constexpr std::uint64_t fewest_rows = 8;

int blocks_on(const ConstantStreamProbe& probe, int sm) {
  const auto place = std::ranges::find(probe.sms, sm) - probe.sms.begin();
  return probe.blocks_on(static_cast<std::size_t>(place));
}

/// When the last load of an SM was answered, in cycles: of the first half of each thread's loads,
/// and of all.
struct ConstantTimes {
  double half = 0;
  double whole = 0;
};

/// Loads of constants by many SMs at once. They go through the constant caches, and queue for the
/// load unit and the misses in flight of their SM and for the ports of the caches. They are played
/// in the order of time: a load that misses while too many misses are in flight waits in its SM, so
/// that no load takes a port before its turn.
class ConstantQueue {
 public:
  /// Plays the untimed round of all threads.
  /// @param sms that take part, distinct
  /// @pre the model declares constants, and its constant path has a cache
  ConstantQueue(const Model& model, const Die& die, const ConstantStreamProbe& probe,
                const std::vector<int>& sms, std::uint64_t seed)
      : rates_(*model.units.constants),
        die_(die),
        probe_(probe),
        path_(*model.paths[static_cast<std::size_t>(LoadPath::constant)]),
        arrays_(model, die),
        noise_(model, seed) {
    const auto own =
        std::ranges::find(path_.caches, Addressing::physical_address,
                          [&](std::size_t cache) { return model.caches[cache].addressing; });
    const auto count = static_cast<std::size_t>(own - path_.caches.begin());
    // The L2 of global memory follows the constant caches.
    behind_cycles_ = (count < path_.hit.size() ? path_.hit[count] : path_.dram).front();
    path_.caches.resize(count);
    for (std::size_t cache : path_.caches) {
      double& rate = port_bytes_per_cycle_.emplace_back(0);
      for (const ConstantPort& port : rates_.ports) {
        if (port.cache == model.caches[cache].name) rate = port.bytes_per_cycle;
      }
    }
    arrays_.begin_probe(seed);
    const std::uint64_t shared_bytes = choose_carveout(model.device, 0, {});
    for (int number : sms) {
      Sm& sm = sms_.emplace_back();
      sm.number = number;
      sm.route = arrays_.open_route(path_, number, shared_bytes);
      for (int warp = 0; warp < probe.warps * blocks_on(probe, number); ++warp) {
        warps_.push_back({.sm = sms_.size() - 1,
                          .block = warp / probe.warps,
                          .first_thread = warp % probe.warps * probe.warp_threads});
      }
    }
    warm_up();
  }

  /// Plays so many further loads of each thread, in rows of constant_loads_in_flight. A row begins
  /// when the row before was answered.
  /// @param accesses a multiple of two rows
  /// @return for each of the SMs
  std::vector<ConstantTimes> run(std::uint64_t accesses) {
    accesses_ = accesses;
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) push(0, Step::arrive, warp);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      switch (event.step) {
        case Step::arrive: arrive(event.warp, event.time); break;
        case Step::access: access(event.warp, event.time); break;
        case Step::miss_ends: end_miss(event.warp, event.time); break;
      }
    }
    std::vector<ConstantTimes> times;
    for (const Sm& sm : sms_) times.push_back(sm.times);
    return times;
  }

 private:
  struct Sm {
    int number = 0;
    Route route;  // through the constant caches
    double unit_free = 0;
    std::uint32_t misses = 0;         // in flight
    std::deque<std::size_t> waiting;  // warps whose load must wait for a miss to end
    ConstantTimes times;
  };
  /// Threads of a warp load in turn: load 0 of each, then load 1, ...
  struct Warp {
    std::size_t sm = 0;
    int block = 0;  // of the SM
    int first_thread = 0;
    std::uint64_t made = 0;  // loads of all of its threads
    double row_ready = 0;    // when all loads of this row are answered
  };
  enum class Step { arrive, access, miss_ends };
  struct Event {
    double time = 0;
    std::uint64_t number = 0;  // orders events of the same time
    Step step = Step::arrive;
    std::size_t warp = 0;
    auto operator<=>(const Event&) const = default;
  };

  std::uint64_t address_of(const Warp& warp) const {
    const auto threads = static_cast<std::uint64_t>(probe_.warp_threads);
    const int thread = warp.first_thread + static_cast<int>(warp.made % threads);
    const ConstantPiece piece = constant_piece(probe_, sms_[warp.sm].number, thread, warp.block);
    return piece.offset_bytes(warp.made / threads, probe_.step_bytes);
  }

  /// @return the first level that has the address; all levels before it have it afterwards
  static std::size_t find(const Sm& sm, std::uint64_t address) {
    std::uint64_t span_bytes = 1;
    std::size_t at = 0;
    for (; at < sm.route.levels.size(); ++at) {
      CacheArray& asked = *sm.route.levels[at].array;
      if (asked.access(address, span_bytes)) break;
      span_bytes = std::max(span_bytes, asked.fetch_bytes());
    }
    return at;
  }

  /// The load passes the ports of all caches up to the cache that has its line.
  double serve(const Sm& sm, std::size_t found, double time) {
    double latency_cycles = behind_cycles_ + die_.sm(sm.number).slow_cycles;
    double jitter_cycles = 0;
    double asked_bytes = 4;
    for (std::size_t at = 0; at < sm.route.levels.size() && at <= found; ++at) {
      const Level& passed = sm.route.levels[at];
      if (port_bytes_per_cycle_[at] > 0) {
        double& free = port_free_[passed.array];
        time = std::max(time, free);
        free = time + asked_bytes / port_bytes_per_cycle_[at];
      }
      asked_bytes = static_cast<double>(passed.array->fetch_bytes());
      jitter_cycles = passed.model->jitter_cycles;
      if (at == found) {
        latency_cycles = passed.hit->front() + static_cast<double>(passed.distance_cycles);
      }
    }
    // No outliers: the few loads that are played stand for thousands.
    return time + std::max(1.0, latency_cycles + jitter_cycles * noise_.bell());
  }

  /// The SMs go round side by side, as they begin within a few loads of each other.
  void warm_up() {
    const std::uint64_t loads =
        constant_warmup_accesses(probe_) * static_cast<std::uint64_t>(probe_.warp_threads);
    for (std::uint64_t load = 0; load < loads; ++load) {
      for (Warp& warp : warps_) {
        find(sms_[warp.sm], address_of(warp));
        ++warp.made;
      }
    }
  }

  void push(double time, Step step, std::size_t warp) {
    events_.push({time, event_number_++, step, warp});
  }
  /// The load unit of the SM takes one load after the other.
  void arrive(std::size_t warp, double time) {
    Sm& sm = sms_[warps_[warp].sm];
    const double turn = std::max(time, sm.unit_free);
    sm.unit_free = turn + rates_.load_cycles;
    push(turn, Step::access, warp);
  }

  void access(std::size_t number, double time) {
    Warp& warp = warps_[number];
    Sm& sm = sms_[warp.sm];
    const std::uint64_t address = address_of(warp);
    const bool hits = sm.route.levels.front().array->contains(address);
    if (!hits && sm.misses == rates_.misses_in_flight) {
      sm.waiting.push_back(number);
      return;
    }
    const double done = serve(sm, find(sm, address), time);
    if (!hits) {
      ++sm.misses;
      push(done, Step::miss_ends, number);
    }
    warp.row_ready = std::max(warp.row_ready, done);
    go_on(warp, number, time);
  }

  void end_miss(std::size_t number, double time) {
    Sm& sm = sms_[warps_[number].sm];
    --sm.misses;
    if (sm.waiting.empty()) return;
    const std::size_t next = sm.waiting.front();
    sm.waiting.pop_front();
    access(next, time);
  }

  /// Plans the next load of the row, or of the next row when this one is answered.
  void go_on(Warp& warp, std::size_t number, double time) {
    const auto threads = static_cast<std::uint64_t>(probe_.warp_threads);
    const std::uint64_t before = constant_warmup_accesses(probe_) * threads;
    ++warp.made;
    const std::uint64_t made = warp.made - before;
    if (made % (constant_loads_in_flight * threads) != 0) return push(time, Step::arrive, number);
    Sm& sm = sms_[warp.sm];
    const std::uint64_t rounds = made / threads;
    if (rounds == accesses_ / 2) sm.times.half = std::max(sm.times.half, warp.row_ready);
    if (rounds == accesses_) {
      sm.times.whole = std::max(sm.times.whole, warp.row_ready);
      return;
    }
    push(warp.row_ready, Step::arrive, number);
  }

  const ConstantModel& rates_;
  const Die& die_;
  const ConstantStreamProbe& probe_;
  PathModel path_;  // only its constant caches
  Arrays arrays_;
  Noise noise_;
  double behind_cycles_ = 0;                  // of loads that no constant cache answers
  std::vector<double> port_bytes_per_cycle_;  // by level; 0: no limit
  std::map<const CacheArray*, double> port_free_;
  std::vector<Sm> sms_;
  std::vector<Warp> warps_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t event_number_ = 0;
  std::uint64_t accesses_ = 0;  // of each thread in this run
};

void check_fits(const Launch& launch, const ConstantStreamProbe& probe) {
  launch.memory.path(LoadPath::constant);
  declared(launch.model.units.constants, "rates of constants");
  const int most = launch.die.info.max_threads_per_block / static_cast<int>(warp_threads);
  if (probe.warps > most) {
    throw DeviceError("a constant stream has " + std::to_string(probe.warps) +
                      " warps in a block (at most " + std::to_string(most) +
                      " fit), ask for fewer");
  }
}

/// Loads of each thread that are played: an even number of rows.
std::uint64_t choose_played(const ConstantStreamProbe& probe) {
  const auto threads =
      static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.warp_threads);
  constexpr std::uint64_t two_rows = 2 * constant_loads_in_flight;
  const std::uint64_t wanted =
      std::max(played_loads / threads, fewest_rows * constant_loads_in_flight);
  return std::max(two_rows, std::min(wanted, probe.accesses) / two_rows * two_rows);
}

/// True if no two SMs share a cache of constants. Then SMs of equal distances behave alike.
bool are_apart(const Launch& launch, const PathModel& path) {
  return std::ranges::all_of(path.caches, [&](std::size_t place) {
    const CacheModel& cache = launch.model.caches[place];
    return cache.scope == Scope::sm || cache.addressing == Addressing::physical_address;
  });
}

/// How far an SM lies from its caches.
std::vector<std::int64_t> distances_of(const Launch& launch, const PathModel& path, int sm) {
  std::vector<std::int64_t> cycles{launch.die.sm(sm).slow_cycles};
  for (std::size_t place : path.caches) {
    cycles.push_back(launch.die.cache_offset_cycles[place][static_cast<std::size_t>(sm)]);
  }
  return cycles;
}

/// @return when the loads of each SM were answered, if each thread makes `played` loads
std::vector<ConstantTimes> play_queue(const Launch& launch, const ConstantStreamProbe& probe,
                                      std::uint64_t played) {
  const PathModel& path = launch.memory.path(LoadPath::constant);
  const auto run = [&](const std::vector<int>& sms) {
    return ConstantQueue(launch.model, launch.die, probe, sms, launch.seed).run(played);
  };
  if (!are_apart(launch, path)) return run(probe.sms);
  std::map<std::vector<std::int64_t>, ConstantTimes> by_distance;
  std::vector<ConstantTimes> times;
  for (int sm : probe.sms) {
    std::vector<std::int64_t> key = distances_of(launch, path, sm);
    key.push_back(blocks_on(probe, sm));
    const auto [found, is_new] = by_distance.try_emplace(std::move(key));
    if (is_new) found->second = run({sm}).front();
    times.push_back(found->second);
  }
  return times;
}

}  // namespace

Trace play(const Launch& launch, const ConstantStreamProbe& probe) {
  check_data(launch);
  check_fits(launch, probe);
  const std::uint64_t played = choose_played(probe);
  const std::vector<ConstantTimes> times = play_queue(launch, probe, played);
  const auto threads =
      static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.warp_threads);
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.shared_carveout_bytes = choose_carveout(launch.die.info, 0, {});
  for (std::size_t i = 0; i < probe.sms.size(); ++i) {
    const ConstantTimes& own = times[i];
    // An SM with two blocks goes on alone, and faster, when the others have ended: all of it
    // counts.
    const double pace = probe.doubled_sms > 0
                            ? own.whole / static_cast<double>(played)
                            : (own.whole - own.half) / (static_cast<double>(played) / 2);
    const double more = static_cast<double>(probe.accesses) - static_cast<double>(played);
    const double cycles = (own.whole + pace * more) * (1 + repeat_spread * noise.bell());
    LaneTrace& lane = add_lane(trace, probe.sms[i]);
    lane.elapsed_cycles = static_cast<std::uint64_t>(std::llround(cycles));
    lane.accesses = probe.accesses * threads * static_cast<std::uint64_t>(probe.blocks_on(i));
  }
  return trace;
}

}  // namespace sonde::sim
