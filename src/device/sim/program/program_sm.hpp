// An SM that plays a kernel of a program: schedulers that choose among its warps, and a load-store
// unit that takes one line a cycle, in order, and stalls while a miss finds no resource (Dai 2016,
// section 2.2 and table 1). All SMs of a machine play it together, on one memory side.
#pragma once

#include "device/sim/model/units.hpp"
#include "device/sim/program/bypass_generator.hpp"
#include "device/sim/program/kernel_work.hpp"
#include "device/sim/program/l1_tags.hpp"
#include "device/sim/program/memory_side.hpp"
#include "device/sim/program/warp_schedulers.hpp"

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
  double l1_hit_cycles = 0;
  LsuModel lsu;  // whose miss queue is also that of the way past the L1
};

/// Who chooses how many units use the L1, and who counts what this SM does for it; or null.
struct SmBypass {
  const BypassGenerator* decider = nullptr;
  BypassGenerator* observer = nullptr;
};

/// What an SM counts, as ProgramCount numbers it.
using SmCounts = std::array<double, program_count_total>;

/// What a warp of the SM did.
struct WarpResult {
  std::uint64_t accesses = 0;
  std::vector<double> windows;  // of its loads, from issue to data
  double issue_cycles = 0;      // that its loads waited for the load-store unit
};

class ProgramSm {
 public:
  /// An SM that has no block yet. @param probe outlives the SM, as work does
  /// @param l1 null: there is none
  ProgramSm(const SmModel& model, const ProgramProbe& probe, int sm, L1Tags* l1, MemorySide& memory,
            KernelWork& work, double begin, const SmBypass& bypass);

  /// Takes a block. @pre nothing has been played
  void add_block();

  /// When it can do something next. @pre not done()
  double time() const { return now_; }
  bool done() const { return work_.done() && unit_count_ == 0; }
  /// What is to be done at that time.
  void step();
  /// When all that it asked for has come.
  double end() const { return end_; }

  const SmCounts& counts() const { return counts_; }
  const std::vector<WarpResult>& results() const { return results_; }

 private:
  /// Accesses that the load-store unit holds: one at work, one waiting.
  static constexpr std::size_t unit_entries = 2;
  /// An access in the load-store unit.
  struct Entry {
    AccessLines lines;
    std::uint32_t next = 0;
    std::size_t slot = 0;
    int unit = 0;  // warp of its block, or block of the SM
    bool store = false;
    bool cached = false;  // leaves its lines in the L1
    bool uses_l1 = false;
    bool begun = false;  // its present line has been tried
    double issued = 0;
    double ready = 0;
  };

  void issue(int scheduler, std::size_t slot);
  void issue_access(std::size_t slot);
  void settle(std::size_t slot);
  void go_on(std::size_t slot);
  void begin(const ReplacedSlots& replaced);
  void advance_unit();
  bool play_line(Entry& entry, const LineAccess& access);
  bool play_load(Entry& entry, const LineAccess& access);
  bool play_miss(Entry& entry, const LineAccess& access, const L1Answer& miss);
  bool play_past_l1(Entry& entry, const LineAccess& access);
  bool play_store(const LineAccess& access);
  void finish(const Entry& entry);
  bool fail_until(double time);
  bool wait_until(double time);
  void find_next_time();
  double& count(ProgramCount what) { return counts_[static_cast<std::size_t>(what)]; }

  SmModel model_;
  const ProgramProbe& probe_;
  int sm_;
  L1Tags* l1_;
  MemorySide& memory_;
  KernelWork& work_;
  SmBypass bypass_;
  ResidentWarps warps_;
  WarpSchedulers schedulers_;
  std::vector<WarpResult> results_;
  std::array<Entry, unit_entries> unit_;  // a ring
  std::size_t unit_first_ = 0;
  std::size_t unit_count_ = 0;
  double unit_free_;
  std::priority_queue<double, std::vector<double>, std::greater<>> fills_;  // MSHRs in use
  Places miss_queue_;
  Places bypass_queue_;
  double now_;
  double end_;
  SmCounts counts_{};
};

struct MachineModel {
  SmModel sm;
  std::optional<L1Model> l1;
  MemorySideModel memory;
};

/// What one SM did over all kernels.
struct MachineSm {
  double cycles = 0;
  std::vector<WarpResult> warps;
  SmCounts counts{};  // but for issue_cycles, which warps have
};

/// Plays the program on SMs 0 .. sm_count - 1 of the machine, which share out its blocks and
/// accesses as they have room.
/// @param ranks SMs of the whole machine, a multiple of sm_count: those that do not play have the
/// blocks between
/// @param buffer_address where the program's arrays begin
std::vector<MachineSm> play_machine(const MachineModel& model, const ProgramProbe& probe,
                                    int sm_count, std::uint64_t ranks,
                                    std::uint64_t buffer_address);

}  // namespace sonde::sim
