// The load-store unit of one SM under congestion: an in-order pipeline that stalls when a miss
// finds no line, no MSHR or no miss queue entry (Dai 2016, section 2.2). play/bypass.cpp
// turns its times into a trace.
#pragma once

#include "device/sim/memory/cache_array.hpp"

#include <memory>
#include <queue>
#include <unordered_map>

namespace sonde::sim {

/// What lies beyond the unit, seen by one SM, and how long an unhindered load takes.
struct LsuSurroundings {
  double l2_bytes_per_cycle = 0;
  double dram_bytes_per_cycle = 0;
  double l1_hit_cycles = 0;
  double l2_hit_cycles = 0;  // of a load through the L1
  double dram_cycles = 0;    // of a load through the L1
  double bypass_l2_cycles = 0;
  double bypass_dram_cycles = 0;
};

enum class LoadKind { through_l1, past_l1 };

class Lsu {
 public:
  /// @param l1 null: every load goes past it  @param l2 null: all from DRAM
  Lsu(const LsuModel& model, const LsuSurroundings& around, const CacheModel* l1,
      const Geometry* l1_geometry, const CacheModel* l2, std::uint64_t seed);

  /// One instruction of a warp, issued at `time` behind all earlier ones. Calls must not go back in
  /// time. @return when its last word has come
  double load(double time, LoadKind kind, const std::vector<std::uint64_t>& addresses);

 private:
  struct Miss {
    double filled = 0;
    std::uint32_t waiting = 0;
    std::uint32_t set = 0;
  };

  double load_line(std::uint64_t line, std::uint64_t blocks);
  std::uint64_t count_missing(std::uint64_t line, std::uint64_t blocks) const;
  void touch(std::uint64_t line, std::uint64_t blocks);
  double request(std::uint64_t address, std::uint64_t bytes, double l2_cycles, double dram_cycles);
  void retire();
  void stall_until(double time);

  const LsuModel& model_;
  LsuSurroundings around_;
  std::unique_ptr<CacheArray> l1_;
  std::unique_ptr<CacheArray> l2_;
  std::uint64_t line_bytes_ = 128;
  std::uint64_t fetch_bytes_ = 128;
  double now_ = 0;            // when the head of the pipeline is free
  double request_free_ = 0;   // network to the L2
  double request_begin_ = 0;  // when the L2 took the last request
  double l2_free_ = 0;
  double dram_free_ = 0;
  double return_free_ = 0;                                    // network from the L2
  std::unordered_map<std::uint64_t, Miss> misses_;            // by line
  std::unordered_map<std::uint32_t, std::uint32_t> pending_;  // lines on the way, by set
  using Fill = std::pair<double, std::uint64_t>;
  std::priority_queue<Fill, std::vector<Fill>, std::greater<>> fills_;
  std::queue<double> miss_queue_;  // when each entry leaves
};

}  // namespace sonde::sim
