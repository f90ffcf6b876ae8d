// A closed queue of warps in front of the memory.
#include "device/sim/cores/stream_queue.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

namespace sonde::sim {
namespace {

// Turns that are played out; the queue has settled well before the end of them.
constexpr int played_turns = 60'000;
constexpr int least_rounds = 12;
constexpr int most_rounds = 256;
// The settled pace is measured between these parts of all turns.
constexpr double settled_from = 0.4;
constexpr double settled_to = 0.9;

/// A part that serves requests one after the other. Requests are passed on while they are served.
struct Server {
  double free = 0;

  /// @return when service begins; `end` becomes the later of itself and the end of service
  double serve(double time, double cycles, double& end) {
    const double begin = std::max(free, time);
    free = begin + cycles;
    end = std::max(end, free);
    return begin;
  }
};

/// When the last of some turns ended, and how long a round of theirs takes once it is settled.
struct Pace {
  double end = 0;
  double round_cycles = 0;

  /// Cycles for `rounds` rounds, of which `played` were played.
  double cycles_for(double rounds, int played) const {
    return std::max(end * std::min(1.0, rounds), end + (rounds - played) * round_cycles);
  }
};

Pace pace_of(std::vector<double> ends, int warps) {
  std::sort(ends.begin(), ends.end());
  const auto turns = static_cast<double>(ends.size() - 1);
  const auto from = static_cast<std::size_t>(settled_from * turns);
  const auto to = static_cast<std::size_t>(settled_to * turns);
  const double pace = (ends[to] - ends[from]) / std::max(1.0, static_cast<double>(to - from));
  return {ends.back(), pace * warps};
}

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

  struct Result {
    Pace all;
    std::vector<Pace> of;  // by SM
  };

  Result run(int rounds) {
    int warp = 0;
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      for (int i = 0; i < traffic_.sms[sm].warps; ++i) {
        turns_.push({0, warp++, sm, 0, traffic_.reads});
      }
    }
    std::vector<double> ends;
    std::vector<std::vector<double>> ends_of(sms_.size());
    ends.reserve(static_cast<std::size_t>(warp) * static_cast<std::size_t>(rounds));
    while (!turns_.empty()) {
      Turn turn = turns_.top();
      turns_.pop();
      turn.time = turn.is_read ? read(turn.sm, turn.time) : write(turn.sm, turn.time);
      const bool goes_on = turn.is_read && traffic_.writes;
      if (!goes_on) {
        ends.push_back(turn.time);
        if (traffic_.each_sm) ends_of[turn.sm].push_back(turn.time);
      }
      turn.is_read = goes_on ? false : traffic_.reads;
      if (goes_on || ++turn.round < rounds) turns_.push(turn);
    }
    Result result{pace_of(std::move(ends), warp), {}};
    for (std::size_t sm = 0; traffic_.each_sm && sm < sms_.size(); ++sm) {
      result.of.push_back(pace_of(std::move(ends_of[sm]), traffic_.sms[sm].warps));
    }
    return result;
  }

 private:
  struct Turn {
    double time;
    int warp;
    std::size_t sm;
    int round;
    bool is_read;
    bool operator>(const Turn& other) const {
      return time != other.time ? time > other.time : warp > other.warp;
    }
  };
  struct Sm {
    Server issue, l1, port;
  };

  double batch_bytes() const { return traffic_.ilp * traffic_.element_bytes; }

  /// Through the ports of SM, TPC and GPC to the L2.
  double reach_l2(std::size_t sm, double time, double& end) {
    const StreamSm& place = traffic_.sms[sm];
    time = sms_[sm].port.serve(time, batch_bytes() / rates_.sm_port, end);
    time = tpcs_[place.tpc].serve(time, batch_bytes() / rates_.tpc_port[place.tpc], end);
    if (rates_.gpc_port > 0) {
      time = gpcs_[place.gpc].serve(time, batch_bytes() / rates_.gpc_port, end);
    }
    return l2_.serve(time, batch_bytes() / rates_.l2, end);
  }

  double read(std::size_t sm, double time) {
    double end = 0;
    time = sms_[sm].issue.serve(time, traffic_.ilp * rates_.issue_cycles, end);
    time = sms_[sm].l1.serve(time, batch_bytes() / rates_.l1, end);
    if (random_.unit() < traffic_.l1_hit_rate) return end + traffic_.l1_latency_cycles;
    time = reach_l2(sm, time, end);
    if (random_.unit() < traffic_.l2_hit_rate) return end + traffic_.l2_latency_cycles;
    dram_.serve(time, dram_cycles(batch_bytes()), end);
    return end + traffic_.dram_latency_cycles;
  }

  /// A store is done for its warp when the L2 has taken it, and what the L2 throws out for it has
  /// found a place in the write queue of the DRAM.
  double write(std::size_t sm, double time) {
    double end = 0;
    time = sms_[sm].issue.serve(time, traffic_.ilp * rates_.issue_cycles, end);
    time = reach_l2(sm, time, end);
    if (!traffic_.write_through && random_.unit() < traffic_.l2_hit_rate) return end;
    waiting_write_bytes_ += batch_bytes();
    if (waiting_write_bytes_ >= rates_.write_batch_bytes) {
      const double turns = traffic_.reads ? 2 * rates_.turnaround_cycles : 0;
      dram_.serve(time, turns + dram_cycles(waiting_write_bytes_), end);
      waiting_write_bytes_ = 0;
    }
    return std::max(end, dram_.free);
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
  std::vector<Server> gpcs_;  // by number, of which there are fewer than of TPCs
  Server l2_;
  Server dram_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  double row_left_ = 0;
  double waiting_write_bytes_ = 0;
};

}  // namespace

StreamCycles run_stream_queue(const StreamRates& rates, const StreamTraffic& traffic, double rounds,
                              std::uint64_t seed) {
  int warps = 0;
  for (const StreamSm& sm : traffic.sms) warps += sm.warps;
  const int played = std::clamp(played_turns / warps, least_rounds, most_rounds);
  const int wanted = static_cast<int>(std::min<double>(std::ceil(rounds), played));
  const StreamQueue::Result result = StreamQueue(rates, traffic, seed).run(std::max(wanted, 1));
  StreamCycles cycles{result.all.cycles_for(rounds, wanted), {}};
  for (const Pace& pace : result.of) cycles.of.push_back(pace.cycles_for(rounds, wanted));
  return cycles;
}

}  // namespace sonde::sim
