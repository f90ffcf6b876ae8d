// An SM that plays a kernel of a program: schedulers that choose among its warps, and a load-store
// unit that takes one line a cycle, in order, and stalls while a miss finds no resource (Dai 2016,
// section 2.2 and table 1).
#pragma once

#include "device/sim/program/bypass_generator.hpp"
#include "device/sim/program/l1_tags.hpp"
#include "device/sim/program/memory_side.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace sonde::sim {

/// What an SM has, but for its L1.
struct SmModel {
  int schedulers = 2;
  double issue_cycles = 1;  // of a scheduler for one instruction
  WarpScheduler scheduler = WarpScheduler::greedy_then_oldest;
  std::uint32_t mshrs = 32;
  std::uint32_t miss_queue_entries = 8;
  double l1_hit_cycles = 0;
  std::uint64_t bypass_fetch_bytes = 32;  // least that a load past the L1 brings
};

/// What its warps do: how many, and who of them uses the L1.
struct SmPlay {
  int sm = 0;
  std::uint64_t rank = 0;  // among the SMs that play
  std::uint64_t ranks = 1;
  int warps = 1;
  int block_warps = 1;
  BypassLevel level = BypassLevel::warp;
  BypassPath bypass_path = BypassPath::past_l1;
  std::uint64_t accesses = 0;  // to be made
  bool windows = false;        // a load waits for the one before
};

struct SmCounts {
  std::uint64_t instructions = 0;
  std::uint64_t l1_hits = 0;
  std::uint64_t l1_misses = 0;
  double failures = 0;
};

/// What a warp of the SM did.
struct WarpResult {
  std::uint64_t accesses = 0;
  std::vector<double> windows;  // of its loads, from issue to data
  double issue_cycles = 0;      // that its loads waited for the load-store unit
};

class ProgramSm {
 public:
  /// @param l1 null: there is none  @param kernel outlives the SM
  /// @param cached asked before each load: the first so many units use the L1
  ProgramSm(const SmModel& model, const SmPlay& play, L1Tags* l1, MemorySide& memory,
            const KernelAccesses& kernel, double begin, std::function<int()> cached,
            BypassGenerator* generator);

  /// When it can do something next. @pre not done()
  double time() const { return now_; }
  bool done() const { return made_ >= play_.accesses && unit_count_ == 0; }
  /// What is to be done at that time.
  void step();
  /// When all that it asked for has come.
  double end() const { return end_; }

  SmCounts& counts() { return counts_; }
  std::vector<WarpResult>& results() { return results_; }

 private:
  struct Warp {
    WarpAccesses accesses;
    std::uint64_t number = 0;       // among all warps that come to the SM
    std::uint64_t age = 0;          // when it came
    double ready = 0;               // can issue from then on
    double pass_ready = 0;          // loads of this pass have come
    std::uint32_t outstanding = 0;  // loads in the load-store unit
    bool instructions_issued = false;
    double wanted = -1;  // since when its access waits for the unit
  };
  /// Accesses that the load-store unit holds: one at work, one waiting.
  static constexpr std::size_t unit_entries = 2;
  /// An access in the load-store unit.
  struct Entry {
    AccessLines lines;
    std::uint32_t next = 0;
    int warp = 0;
    bool store = false;
    bool cached = false;  // leaves its lines in the L1
    bool uses_l1 = false;
    bool begun = false;  // its present line has been tried
    double issued = 0;
    double ready = 0;
  };

  void begin_warp(Warp& warp);
  double issue_time(const Warp& warp) const;
  bool issues_instructions(const Warp& warp) const;
  std::optional<std::size_t> choose_warp(int scheduler);
  void issue(int scheduler, std::size_t slot);
  void issue_access(Warp& warp, std::size_t slot);
  void advance_unit();
  bool play_line(Entry& entry, const LineAccess& access);
  bool play_load(Entry& entry, const LineAccess& access);
  bool play_miss(Entry& entry, const LineAccess& access, const L1Answer& miss);
  void bypass(Entry& entry, const LineAccess& access);
  void finish(const Entry& entry);
  bool fail_until(double time);
  void retire();
  int unit_of(std::size_t slot) const;
  void find_next_time();

  SmModel model_;
  SmPlay play_;
  L1Tags* l1_;
  MemorySide& memory_;
  const KernelAccesses& kernel_;
  std::function<int()> cached_;
  BypassGenerator* generator_;
  std::vector<Warp> warps_;
  std::vector<WarpResult> results_;
  std::vector<double> scheduler_free_;
  std::vector<std::size_t> last_warp_;    // by scheduler
  std::array<Entry, unit_entries> unit_;  // a ring
  std::size_t unit_first_ = 0;
  std::size_t unit_count_ = 0;
  double unit_free_ = 0;
  std::priority_queue<double, std::vector<double>, std::greater<>> fills_;  // MSHRs in use
  std::queue<double> miss_queue_;  // when each entry leaves
  double now_;
  double end_;
  std::uint64_t made_ = 0;  // accesses issued
  std::uint64_t warps_begun_ = 0;
  SmCounts counts_;
};

}  // namespace sonde::sim
