// Plays the loads in the order of time: a load that misses while too many misses are in flight
// waits in its SM, so that nobody takes a port before his turn.
#include "device/sim/cores/constant_queue.hpp"

#include <algorithm>

namespace sonde::sim {

ConstantQueue::ConstantQueue(const Model& model, const Die& die, const ConstantStreamProbe& probe,
                             const std::vector<int>& sms, std::uint64_t seed)
    : model_(model), die_(die), probe_(probe), seed_(seed), noise_(model, seed) {
  const PathModel& path = *model.paths[static_cast<std::size_t>(LoadPath::constant)];
  behind_cycles_ = path.dram.front();
  double line_bytes = 0;
  for (std::size_t i = 0; i < path.caches.size(); ++i) {
    const CacheModel& cache = model.caches[path.caches[i]];
    if (cache.addressing == Addressing::physical_address) {  // the L2 of global memory
      behind_cycles_ = path.hit[i].front();
      break;
    }
    Level& level = levels_.emplace_back();
    level.model = &cache;
    level.place = path.caches[i];
    level.latency_cycles = path.hit[i].front();
    level.line_bytes = line_bytes;
    for (const ConstantPort& port : model.units.constants->ports) {
      if (port.cache == cache.name) level.bytes_per_cycle = port.bytes_per_cycle;
    }
    line_bytes = static_cast<double>(cache.fetch_bytes);
  }
  for (int number : sms) {
    sms_.emplace_back().number = number;
    for (int warp = 0; warp < probe.warps; ++warp) {
      warps_.push_back({.sm = sms_.size() - 1, .first_thread = warp * probe.warp_threads});
    }
  }
  warm_up();
}

CacheArray& ConstantQueue::array(Level& level, int sm) {
  const int number = instance_of(die_.sms[static_cast<std::size_t>(sm)], sm, level.model->scope);
  std::unique_ptr<CacheArray>& made = level.arrays[number];
  if (!made) {
    made = std::make_unique<CacheArray>(*level.model, level.model->geometries.front());
    made->clear(derive_seed(seed_, level.model->name + " " + std::to_string(number)));
  }
  return *made;
}

std::uint64_t ConstantQueue::address_of(const Warp& warp) const {
  const auto threads = static_cast<std::uint64_t>(probe_.warp_threads);
  const int thread = warp.first_thread + static_cast<int>(warp.made % threads);
  const ConstantPiece piece = constant_piece(probe_, sms_[warp.sm].number, thread);
  return piece.offset_bytes(warp.made / threads, probe_.step_bytes);
}

std::size_t ConstantQueue::find(int sm, std::uint64_t address) {
  std::uint64_t span_bytes = 1;
  std::size_t at = 0;
  for (; at < levels_.size(); ++at) {
    CacheArray& asked = array(levels_[at], sm);
    if (asked.access(address, span_bytes)) break;
    span_bytes = std::max(span_bytes, asked.fetch_bytes());
  }
  return at;
}

/// The rounds of all SMs go on side by side, as they begin within a few loads of each other.
void ConstantQueue::warm_up() {
  const std::uint64_t loads =
      constant_warmup_accesses(probe_) * static_cast<std::uint64_t>(probe_.warp_threads);
  for (std::uint64_t load = 0; load < loads; ++load) {
    for (Warp& warp : warps_) {
      find(sms_[warp.sm].number, address_of(warp));
      ++warp.made;
    }
  }
}

std::vector<ConstantTimes> ConstantQueue::run(std::uint64_t accesses) {
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

/// The load unit of the SM takes one load after the other.
void ConstantQueue::arrive(std::size_t warp, double time) {
  Sm& sm = sms_[warps_[warp].sm];
  const double turn = std::max(time, sm.unit_free);
  sm.unit_free = turn + model_.units.constants->load_cycles;
  push(turn, Step::access, warp);
}

void ConstantQueue::access(std::size_t number, double time) {
  Warp& warp = warps_[number];
  Sm& sm = sms_[warp.sm];
  const std::uint64_t address = address_of(warp);
  const bool hits = array(levels_.front(), sm.number).contains(address);
  if (!hits && sm.misses == model_.units.constants->misses_in_flight) {
    sm.waiting.push_back(number);
    return;
  }
  const double done = serve(sm.number, find(sm.number, address), time);
  if (!hits) {
    ++sm.misses;
    push(done, Step::miss_ends, number);
  }
  warp.row_ready = std::max(warp.row_ready, done);
  go_on(warp, number, time);
}

/// A miss passes the ports of all caches down to the one that has its line.
double ConstantQueue::serve(int sm, std::size_t level, double time) {
  const auto at = static_cast<std::size_t>(sm);
  double latency_cycles = behind_cycles_;
  double jitter_cycles = 0;
  for (std::size_t i = 0; i < levels_.size() && i <= level; ++i) {
    Level& passed = levels_[i];
    if (passed.bytes_per_cycle > 0) {
      double& free = passed.port_free[instance_of(die_.sms[at], sm, passed.model->scope)];
      time = std::max(time, free);
      free = time + std::max(passed.line_bytes, 4.0) / passed.bytes_per_cycle;
    }
    jitter_cycles = passed.model->jitter_cycles;
    if (i == level) {
      latency_cycles = passed.latency_cycles + die_.cache_offset_cycles[passed.place][at];
    }
  }
  latency_cycles += die_.slow_sm_cycles[at];
  // No outliers: the few loads that are played stand for thousands.
  return time + std::max(1.0, latency_cycles + jitter_cycles * noise_.bell());
}

void ConstantQueue::end_miss(std::size_t number, double time) {
  Sm& sm = sms_[warps_[number].sm];
  --sm.misses;
  if (sm.waiting.empty()) return;
  const std::size_t next = sm.waiting.front();
  sm.waiting.pop_front();
  access(next, time);
}

/// The next load of the row, or of the next row when this one is answered.
void ConstantQueue::go_on(Warp& warp, std::size_t number, double time) {
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

}  // namespace sonde::sim
