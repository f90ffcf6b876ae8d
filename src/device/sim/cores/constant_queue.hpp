// Constants on their way to many SMs at once: the loads go through the constant caches, and queue
// for the load unit and the misses in flight of their SM and for the ports of the caches behind.
// play/constant.cpp turns the times into a trace.
#pragma once

#include "device/probe.hpp"
#include "device/sim/die.hpp"
#include "device/sim/memory/cache_array.hpp"
#include "device/sim/noise.hpp"

#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <vector>

namespace sonde::sim {

/// When the last load of an SM was answered, in cycles: of the first half of each thread's loads,
/// and of all.
struct ConstantTimes {
  double half = 0;
  double whole = 0;
};

class ConstantQueue {
 public:
  /// Makes the untimed round of all threads.
  /// @param sms that take part, distinct
  /// @pre the model declares constants, and its constant path has a cache
  ConstantQueue(const Model& model, const Die& die, const ConstantStreamProbe& probe,
                const std::vector<int>& sms, std::uint64_t seed);

  /// Every thread makes so many further loads, in rows of constant_loads_in_flight, each row when
  /// the one before was answered. @param accesses a multiple of two rows
  /// @return by place in sms
  std::vector<ConstantTimes> run(std::uint64_t accesses);

 private:
  /// A cache and its instances, made when first asked.
  struct Level {
    const CacheModel* model = nullptr;
    std::size_t place = 0;       // in Model::caches
    double latency_cycles = 0;   // of a hit
    double line_bytes = 0;       // that the cache before it asks for
    double bytes_per_cycle = 0;  // of the port of each instance; 0: it holds nothing up
    std::map<int, std::unique_ptr<CacheArray>> arrays;
    std::map<int, double> port_free;
  };
  struct Sm {
    int number = 0;
    double unit_free = 0;
    std::uint32_t misses = 0;         // in flight
    std::deque<std::size_t> waiting;  // warps whose load must wait for a miss to end
    ConstantTimes times;
  };
  /// Threads of a warp load in turn: load 0 of each, then load 1, ...
  struct Warp {
    std::size_t sm = 0;
    int first_thread = 0;
    std::uint64_t made = 0;  // loads of all of its threads
    double row_ready = 0;    // when all loads of this row are answered
  };
  enum class Step { arrive, access, miss_ends };
  struct Event {
    double time = 0;
    std::uint64_t number = 0;  // events of one time in the order in which they came
    Step step = Step::arrive;
    std::size_t warp = 0;
    bool operator>(const Event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  CacheArray& array(Level& level, int sm);
  std::uint64_t address_of(const Warp& warp) const;
  /// The first level that has the address; all before it have it afterwards.
  std::size_t find(int sm, std::uint64_t address);
  double serve(int sm, std::size_t level, double time);
  void warm_up();
  void push(double time, Step step, std::size_t warp) {
    events_.push({time, event_number_++, step, warp});
  }
  void arrive(std::size_t warp, double time);
  void access(std::size_t warp, double time);
  void end_miss(std::size_t warp, double time);
  void go_on(Warp& warp, std::size_t number, double time);

  const Model& model_;
  const Die& die_;
  const ConstantStreamProbe& probe_;
  std::uint64_t seed_;
  Noise noise_;
  double behind_cycles_ = 0;  // of loads that no constant cache answers
  std::vector<Level> levels_;
  std::vector<Sm> sms_;
  std::vector<Warp> warps_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t event_number_ = 0;
  std::uint64_t accesses_ = 0;  // of each thread in this run
};

}  // namespace sonde::sim
