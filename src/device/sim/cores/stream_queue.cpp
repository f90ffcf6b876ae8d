// Simulates some rounds of the queue and extrapolates the others.
#include "device/sim/cores/stream_queue.hpp"

#include "base/random.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace sonde::sim {
namespace {

// Turns (one request of one warp) that are simulated; the pace is constant well before the end. In
// a round each warp has one turn.
constexpr int played_turns = 24'000;
constexpr int least_rounds = 12;
constexpr int most_rounds = 256;
// The constant pace is measured between these fractions of all turns.
constexpr double settled_from = 0.4;
constexpr double settled_to = 0.9;

/// A part that serves requests one after the other. It passes a request on when its service begins.
struct Server {
  double free = 0;

  /// @return when service begins; raises `end` to the end of service
  double serve(double time, double cycles, double& end) {
    const double begin = std::max(free, time);
    free = begin + cycles;
    end = std::max(end, free);
    return begin;
  }
};

/// Extrapolates from `played` rounds of `warps` warps to the cycles of `rounds` rounds.
/// @param ends end time of each simulated turn
double extrapolate(std::vector<double> ends, int warps, double rounds, int played) {
  const auto turns = static_cast<double>(ends.size() - 1);
  const auto from = static_cast<std::ptrdiff_t>(settled_from * turns);
  const auto to = static_cast<std::ptrdiff_t>(settled_to * turns);
  const auto begin = ends.begin();
  std::nth_element(begin, begin + to, ends.end());
  const double last = *std::max_element(begin + to, ends.end());
  const double settled = begin[to];
  std::nth_element(begin, begin + from, begin + to);
  const double pace = (settled - begin[from]) / std::max(1.0, static_cast<double>(to - from));
  return std::max(last * std::min(1.0, rounds), last + (rounds - played) * (pace * warps));
}

/// Time of a warp's next turn, and number of the warp. The earliest turn goes first; at the same
/// time, the lowest warp.
using WarpTurn = std::pair<double, std::size_t>;

class StreamQueue {
 public:
  StreamQueue(const StreamRates& rates, const StreamTraffic& traffic, std::uint64_t seed)
      : rates_(rates),
        traffic_(traffic),
        random_(seed),
        sms_(traffic.sms.size()),
        tpcs_(rates.tpc_port.size()),
        gpcs_(rates.tpc_port.size()),
        row_left_(rates.row_bytes) {}

  /// Simulates `played` rounds and returns the cycles of `rounds` rounds.
  StreamCycles run(double rounds, int played) {
    std::vector<Turn> turns;  // by warp
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      for (int i = 0; i < traffic_.sms[sm].warps; ++i) {
        turns.push_back({.warp_of_sm = i, .sm = sm, .is_read = traffic_.reads});
      }
    }
    std::vector<double> ends;
    std::vector<std::vector<double>> ends_of(sms_.size());
    std::vector<StreamWindow> windows;
    ends.reserve(turns.size() * static_cast<std::size_t>(played));
    std::priority_queue<WarpTurn, std::vector<WarpTurn>, std::greater<>> next;
    for (std::size_t warp = 0; warp < turns.size(); ++warp) next.emplace(0, warp);
    while (!next.empty()) {
      const std::size_t warp = next.top().second;
      next.pop();
      Turn& turn = turns[warp];
      while (!advance(turn) && !traffic_.each_sm) {
      }
      if (turn.stage != Stage::done) {
        next.emplace(turn.time, warp);
        continue;
      }
      if (is_settled(turn.round, played)) windows.push_back({turn.sm, turn.end - turn.begin});
      turn.begin = turn.time = turn.end;
      turn.end = 0;
      turn.stage = Stage::issue;
      const bool goes_on = turn.is_read && traffic_.writes;
      if (!goes_on) {
        ends.push_back(turn.time);
        if (traffic_.each_sm) ends_of[turn.sm].push_back(turn.time);
      }
      turn.is_read = goes_on ? false : traffic_.reads;
      if (goes_on || ++turn.round < played) next.emplace(turn.time, warp);
    }
    StreamCycles cycles{
        extrapolate(std::move(ends), static_cast<int>(turns.size()), rounds, played),
        {},
        thin_out(windows)};
    for (std::size_t sm = 0; traffic_.each_sm && sm < sms_.size(); ++sm) {
      cycles.of.push_back(
          extrapolate(std::move(ends_of[sm]), traffic_.sms[sm].warps, rounds, played));
    }
    return cycles;
  }

 private:
  /// The part that a request reaches next.
  enum class Stage { issue, tpc, gpc, l2, dram, done };

  struct Turn {
    double begin = 0;  // when its warp issued it
    double time = 0;   // when it reaches `stage`
    double end = 0;    // when all parts so far have served it
    int warp_of_sm = 0;
    std::size_t sm = 0;
    int round = 0;
    bool is_read = true;
    Stage stage = Stage::issue;
  };
  struct Sm {
    Server issue, l1, port;
  };

  /// True if reads of that round are timed.
  bool is_settled(int round, int rounds) const {
    return traffic_.timed_reads > 0 && round >= settled_from * (rounds - 1) &&
           round <= settled_to * (rounds - 1);
  }

  /// At most timed_reads of the windows, evenly spaced.
  std::vector<StreamWindow> thin_out(const std::vector<StreamWindow>& windows) const {
    const auto wanted = static_cast<std::size_t>(traffic_.timed_reads);
    const std::size_t step = wanted == 0 ? 1 : (windows.size() + wanted - 1) / wanted;
    std::vector<StreamWindow> some;
    for (std::size_t i = 0; i < windows.size(); i += step) some.push_back(windows[i]);
    return some;
  }

  double batch_bytes() const { return traffic_.ilp * traffic_.element_bytes; }

  /// Moves a request one stage further. With `each_sm` every part serves requests in the order of
  /// their arrival, so requests advance one stage at a time; otherwise a request goes all the way
  /// at once. Inlined, because calls for each stage cost a third of the time.
  /// @return true if the request has been answered
  [[gnu::always_inline]] inline bool advance(Turn& turn) {
    const StreamSm& place = traffic_.sms[turn.sm];
    switch (turn.stage) {
      case Stage::issue: return leave_sm(turn);
      case Stage::tpc:
        turn.time =
            tpcs_[place.tpc].serve(turn.time, batch_bytes() / rates_.tpc_port[place.tpc], turn.end);
        turn.stage = Stage::gpc;
        return false;
      case Stage::gpc: return traffic_.merged_warps > 0 ? merge(turn) : leave_gpc(turn);
      case Stage::l2: return reach_l2(turn);
      case Stage::dram: return reach_dram(turn);
      case Stage::done: break;
    }
    return true;
  }

  bool answer(Turn& turn, double latency_cycles) {
    turn.end += latency_cycles;
    turn.stage = Stage::done;
    return true;
  }

  /// Issue, L1 and port of the SM.
  bool leave_sm(Turn& turn) {
    Sm& sm = sms_[turn.sm];
    turn.time = sm.issue.serve(turn.time, traffic_.ilp * rates_.issue_cycles, turn.end);
    if (turn.is_read && !traffic_.past_l1) {
      turn.time = sm.l1.serve(turn.time, batch_bytes() / rates_.l1, turn.end);
      if (random_.unit() < traffic_.l1_hit_rate) return answer(turn, traffic_.l1_latency_cycles);
    }
    turn.time = sm.port.serve(turn.time, batch_bytes() / rates_.sm_port, turn.end);
    turn.stage = Stage::tpc;
    return false;
  }

  bool leave_gpc(Turn& turn) {
    if (rates_.gpc_port > 0) {
      const std::size_t gpc = traffic_.sms[turn.sm].gpc;
      turn.time = gpcs_[gpc].serve(turn.time, batch_bytes() / rates_.gpc_port, turn.end);
    }
    turn.stage = Stage::l2;
    return false;
  }

  /// SMs of a GPC that read the same data share one read until it is answered.
  bool merge(Turn& turn) {
    double& answered =
        answered_[{traffic_.sms[turn.sm].gpc, turn.warp_of_sm % traffic_.merged_warps, turn.round}];
    if (turn.time >= answered) {
      leave_gpc(turn);
      while (!advance(turn)) {
      }
      answered = turn.end;
    }
    turn.end = std::max(turn.end, answered);
    turn.stage = Stage::done;
    return true;
  }

  /// A store ends for its warp when the L2 has taken it, and the line that the L2 evicts for it has
  /// found a place in the write queue of the DRAM.
  bool reach_l2(Turn& turn) {
    turn.time = l2_.serve(turn.time, batch_bytes() / rates_.l2, turn.end);
    turn.stage = Stage::dram;
    if (!turn.is_read) {
      cross(turn);
      if (traffic_.write_through || random_.unit() >= traffic_.l2_hit_rate) return false;
      return answer(turn, 0);
    }
    if (random_.unit() >= traffic_.l2_hit_rate) return false;
    const bool is_far = cross(turn);
    return answer(turn, is_far ? traffic_.l2_far_latency_cycles : traffic_.l2_latency_cycles);
  }

  /// True if the other partition serves the request, which then crosses between the partitions.
  bool cross(Turn& turn) {
    const StreamSm& place = traffic_.sms[turn.sm];
    if (place.far_share == 0 || random_.unit() >= place.far_share) return false;
    if (rates_.crossing > 0) {
      crossings_[place.partition].serve(turn.time, batch_bytes() / rates_.crossing, turn.end);
    }
    return true;
  }

  bool reach_dram(Turn& turn) {
    if (turn.is_read) {
      dram_.serve(turn.time, dram_cycles(batch_bytes()), turn.end);
      return answer(turn, traffic_.dram_latency_cycles);
    }
    waiting_write_bytes_ += batch_bytes();
    if (waiting_write_bytes_ >= rates_.write_batch_bytes) {
      const double turnarounds = traffic_.reads ? 2 * rates_.turnaround_cycles : 0;
      dram_.serve(turn.time, turnarounds + dram_cycles(waiting_write_bytes_), turn.end);
      waiting_write_bytes_ = 0;
    }
    turn.end = std::max(turn.end, dram_.free);
    return answer(turn, 0);
  }

  double dram_cycles(double bytes) {
    double cycles = bytes / rates_.dram;
    for (row_left_ -= bytes; row_left_ <= 0; row_left_ += rates_.row_bytes) {
      cycles += rates_.row_overhead_cycles;
    }
    return cycles;
  }

  const StreamRates& rates_;
  const StreamTraffic& traffic_;
  Random random_;
  std::vector<Sm> sms_;
  std::vector<Server> tpcs_;
  std::vector<Server> gpcs_;  // by GPC; there are fewer GPCs than TPCs
  Server l2_;
  std::array<Server, static_cast<std::size_t>(limits::partitions)>
      crossings_;  // by partition of the SM
  Server dram_;
  double row_left_ = 0;
  double waiting_write_bytes_ = 0;
  std::map<std::tuple<std::size_t, int, int>, double> answered_;  // by GPC, warp and round
};

}  // namespace

StreamCycles run_stream_queue(const StreamRates& rates, const StreamTraffic& traffic, double rounds,
                              std::uint64_t seed) {
  int warps = 0;
  for (const StreamSm& sm : traffic.sms) warps += sm.warps;
  const int played = std::clamp(played_turns / warps, least_rounds, most_rounds);
  const auto wanted = static_cast<int>(std::min<double>(std::ceil(rounds), played));
  return StreamQueue(rates, traffic, seed).run(rounds, std::max(wanted, 1));
}

}  // namespace sonde::sim
