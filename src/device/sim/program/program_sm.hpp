// An SM that plays a kernel of a program: schedulers that choose among its warps, and a load-store
// unit that takes one line a cycle, in order, and stalls while a miss finds no resource (Dai 2016,
// section 2.2 and table 1). Bypassing accesses stand in the same order (GPGPU-Sim 3.2, the paper's
// simulator: ldst_unit::memory_cycle). All SMs of a machine play it together, on one memory side.
#pragma once

#include "base/error.hpp"
#include "device/sim/model/units.hpp"
#include "device/sim/program/bypass_generator.hpp"
#include "device/sim/program/kernel_work.hpp"
#include "device/sim/program/l1_tags.hpp"
#include "device/sim/program/memory_side.hpp"
#include "device/sim/program/warp_schedulers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace sonde::sim {

/// The parts of an SM without its L1.
struct SmModel {
  int schedulers = 2;
  double issue_cycles = 1;  // of a scheduler for one instruction
  double l1_hit_cycles = 0;
  LsuModel lsu;  // its miss queue entries also hold for the queue past the L1
};

/// The generator that decides for this SM, and the one that observes it; each may be null.
struct SmBypass {
  const BypassGenerator* decider = nullptr;
  BypassGenerator* observer = nullptr;
};

/// The counts of an SM, by ProgramCount.
using SmCounts = std::array<double, program_count_total>;

/// What a warp of the SM did.
struct WarpResult {
  std::uint64_t accesses = 0;
  std::vector<double> windows;  // of its loads, from issue to data
  double issue_cycles = 0;      // that its loads waited for the load-store unit
};

/// What an SM did over all kernels.
struct SmResult {
  double cycles = 0;
  std::vector<WarpResult> warps;
  SmCounts counts{};  // without issue_cycles, which warps have
};

class ProgramSm {
 public:
  /// An SM without a block. `probe` and `work` must outlive it.
  /// @param l1 null: there is none
  /// @param result of the kernels before, to which this kernel's is added
  ProgramSm(const SmModel& model, const ProgramProbe& probe, int sm, L1Tags* l1, MemorySide& memory,
            KernelWork& work, double begin, const SmBypass& bypass, SmResult& result)
      : model_(model),
        probe_(probe),
        sm_(sm),
        l1_(l1),
        memory_(memory),
        work_(work),
        bypass_(bypass),
        warps_({.blocks = probe.resident_blocks,
                .block_warps = block_warps(probe.program.kernels.front()),
                .active = probe.active_warps},
               work),
        schedulers_(probe.machine.scheduler.value_or(WarpScheduler::greedy_then_oldest),
                    model.schedulers, warps_.count(), begin),
        result_(result),
        failures_before_(count(ProgramCount::reservation_failures)),
        unit_free_(begin),
        miss_queue_(model.lsu.miss_queue_entries),
        bypass_queue_(model.lsu.miss_queue_entries),
        now_(begin),
        end_(begin) {
    result_.warps.resize(warps_.count());
    for (std::size_t slot = 0; slot < warps_.count(); ++slot) schedulers_.set_waiting(slot);
  }

  /// Takes a block. @pre nothing has been played
  void add_block() { begin(warps_.add_block(now_)); }

  /// When it can do something next. @pre not done()
  double time() const { return now_; }
  bool done() const { return work_.done() && unit_count_ == 0; }
  /// Does what is due at time().
  void step() {
    if (unit_count_ > 0 && unit_free_ <= now_) advance_unit();
    for (int scheduler = 0; scheduler < schedulers_.count() && !work_.done(); ++scheduler) {
      const auto slot = schedulers_.choose(scheduler, now_, unit_count_ == unit_entries);
      if (slot) issue(scheduler, *slot);
    }
    find_next_time();
  }
  /// When the last data have come.
  double end() const { return end_; }

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
    bool begun = false;  // its current line has been tried
    double issued = 0;
    double ready = 0;
  };

  void issue(int scheduler, std::size_t slot) {
    ResidentWarp& warp = warps_[slot];
    const std::uint32_t instructions = work_.kernel().instructions;
    if (warp.accesses.begins_pass() && !warp.instructions_issued && instructions > 0) {
      // Without gaps: enough warps hide the latency of arithmetic.
      count(ProgramCount::instructions) += instructions;
      warp.instructions_issued = true;
      schedulers_.occupy(scheduler, slot, now_ + model_.issue_cycles * instructions);
      settle(slot);
      return;
    }
    schedulers_.occupy(scheduler, slot, now_ + model_.issue_cycles);
    issue_access(slot);
  }
  void issue_access(std::size_t slot) {
    ResidentWarp& warp = warps_[slot];
    Entry& entry = unit_[(unit_first_ + unit_count_++) % unit_entries];
    work_.placed().find_lines(warp.accesses, entry.lines);
    entry.unit = probe_.level == BypassLevel::warp ? warp.warp : warps_.block_of(slot);
    const int units = bypass_.decider != nullptr ? bypass_.decider->cached() : probe_.cached;
    const bool cached = entry.unit < units;
    entry.next = 0;
    entry.slot = slot;
    entry.store = warp.accesses.access().store;
    entry.cached = l1_ != nullptr && cached;
    entry.uses_l1 = l1_ != nullptr && (cached || probe_.bypass_path != BypassPath::past_l1);
    entry.begun = false;
    entry.issued = now_;
    entry.ready = now_;
    if (unit_count_ == 1) unit_free_ = std::max(unit_free_, now_);
    ++count(ProgramCount::instructions);
    work_.count_access();
    ++result_.warps[slot].accesses;
    if (!entry.store) ++warp.outstanding;
    warp.accesses.advance();
    if (warp.accesses.begins_pass()) warp.instructions_issued = false;
    go_on(slot);
  }
  /// Tells the schedulers what the warp issues next, and when it can.
  void settle(std::size_t slot) {
    ResidentWarp& warp = warps_[slot];
    if (warp.accesses.at_end()) return schedulers_.set_waiting(slot);
    const ProgramAccess& access = warp.accesses.access();
    const bool begins = warp.accesses.begins_pass();
    const bool waits = begins || access.waits || access.store || probe_.windows;
    if (waits && warp.outstanding > 0) return schedulers_.set_waiting(slot);
    const bool instructions =
        begins && !warp.instructions_issued && work_.kernel().instructions > 0;
    schedulers_.set_next(slot, waits ? std::max(now_, warp.pass_ready) : now_, !instructions);
  }
  /// Goes on with the warp of the slot or, if it is done, with another warp.
  void go_on(std::size_t slot) {
    const ResidentWarp& warp = warps_[slot];
    if (!warp.accesses.at_end() || warp.outstanding > 0) return settle(slot);
    schedulers_.set_waiting(slot);
    begin(warps_.end_warp(slot));
  }
  void begin(const ReplacedSlots& replaced) {
    for (std::size_t slot = replaced.first; slot < replaced.end; ++slot) {
      schedulers_.set_youngest(slot);
      settle(slot);
    }
  }
  /// Plays one line of the oldest access in the load-store unit.
  void advance_unit() {
    Entry& entry = unit_[unit_first_];
    if (!play_line(entry, entry.lines.lines[entry.next])) return;
    unit_free_ = now_ + 1;
    entry.begun = false;
    if (++entry.next < entry.lines.count) return;
    finish(entry);
    unit_first_ = (unit_first_ + 1) % unit_entries;
    --unit_count_;
  }
  /// @return false if the line must be tried again at unit_free_
  bool play_line(Entry& entry, const LineAccess& access) {
    if (entry.store) return play_store(entry, access);
    if (!entry.begun) {
      entry.begun = true;
      if (entry.cached) l1_->begin_access(access.line);
      if (bypass_.observer != nullptr) {
        bypass_.observer->access(entry.unit, access.line,
                                 static_cast<std::uint64_t>(
                                     count(ProgramCount::reservation_failures) - failures_before_));
      }
    }
    return entry.uses_l1 ? play_load(entry, access) : play_past_l1(entry, access);
  }
  bool play_load(Entry& entry, const LineAccess& access) {
    const L1Answer answer = l1_->look_up(access, now_);
    switch (answer.outcome) {
      case L1Outcome::hit:
        ++count(ProgramCount::l1_hits);
        entry.ready = std::max(entry.ready, now_ + model_.l1_hit_cycles);
        return true;
      case L1Outcome::merged:
        ++count(ProgramCount::l1_misses);
        entry.ready = std::max({entry.ready, answer.time, now_ + model_.l1_hit_cycles});
        return true;
      case L1Outcome::stalled:
        if (entry.cached) return fail_until(answer.time);
        break;
      case L1Outcome::miss:
        if (entry.cached || probe_.bypass_path == BypassPath::evict_first) {
          return play_miss(entry, access, answer);
        }
        break;
      case L1Outcome::bypassed: break;
    }
    if (!play_past_l1(entry, access)) return false;
    ++count(ProgramCount::l1_misses);
    return true;
  }
  bool play_miss(Entry& entry, const LineAccess& access, const L1Answer& miss) {
    while (!fills_.empty() && fills_.top() <= now_) fills_.pop();
    if (fills_.size() >= model_.lsu.mshrs) return fail_until(fills_.top());
    if (miss_queue_.room_at() > now_) return fail_until(miss_queue_.room_at());
    ++count(ProgramCount::l1_misses);
    const double filled = memory_.load(sm_, now_, access.line, miss.fetched);
    miss_queue_.take(memory_.free_time(sm_));
    fills_.push(filled);
    l1_->reserve(access, miss, filled, entry.cached);
    entry.ready = std::max(entry.ready, filled);
    return true;
  }
  /// Loads past the L1 have their own queue, and need neither tags nor MSHRs.
  bool play_past_l1(Entry& entry, const LineAccess& access) {
    if (bypass_queue_.room_at() > now_) return wait_until(bypass_queue_.room_at());
    const Sectors sectors =
        fetched_sectors(access.sectors, model_.lsu.bypass_fetch_bytes, work_.placed().line_bytes);
    entry.ready = std::max(entry.ready, memory_.load(sm_, now_, access.line, sectors));
    bypass_queue_.take(memory_.free_time(sm_));
    return true;
  }
  /// The L1 writes through: a store on its path needs an entry of the miss queue (GPGPU-Sim 3.2,
  /// gpu-cache.cc, wr_hit_wt and wr_miss_no_wa), whatever the L1 holds of the line.
  bool play_store(const Entry& entry, const LineAccess& access) {
    Places& queue = entry.uses_l1 ? miss_queue_ : bypass_queue_;
    const double room_at = queue.room_at();
    if (room_at > now_) return entry.uses_l1 ? fail_until(room_at) : wait_until(room_at);
    if (l1_ != nullptr) l1_->store(access);
    memory_.store(sm_, now_, access.line, access.sectors);
    queue.take(memory_.free_time(sm_));
    return true;
  }
  void finish(const Entry& entry) {
    end_ = std::max(end_, entry.ready);
    if (entry.store) return;
    ResidentWarp& warp = warps_[entry.slot];
    --warp.outstanding;
    warp.pass_ready = std::max(warp.pass_ready, std::ceil(entry.ready));
    if (probe_.windows) {
      WarpResult& result = result_.warps[entry.slot];
      result.windows.push_back(entry.ready - entry.issued);
      // The next instruction of the warp could issue once the unit had taken all lines.
      result.issue_cycles += now_ - entry.issued;
    }
    go_on(entry.slot);
  }
  /// Every cycle until then is a reservation failure: the pipeline stalls and tries again.
  bool fail_until(double time) {
    wait_until(time);
    count(ProgramCount::reservation_failures) += unit_free_ - now_;
    return false;
  }
  bool wait_until(double time) {
    unit_free_ = std::max(std::ceil(time), now_ + 1);
    return false;
  }
  void find_next_time() {
    if (done()) return;
    double next = unit_count_ > 0 ? unit_free_ : std::numeric_limits<double>::infinity();
    if (!work_.done()) {
      next = std::min(next, schedulers_.next_time(unit_count_ == unit_entries));
    }
    require(std::isfinite(next), "a simulated SM has nothing to do and is not done");
    now_ = std::max(now_, next);
  }
  double& count(ProgramCount what) { return result_.counts[static_cast<std::size_t>(what)]; }

  SmModel model_;
  const ProgramProbe& probe_;
  int sm_;
  L1Tags* l1_;
  MemorySide& memory_;
  KernelWork& work_;
  SmBypass bypass_;
  ResidentWarps warps_;
  WarpSchedulers schedulers_;
  SmResult& result_;
  double failures_before_;
  std::array<Entry, unit_entries> unit_;  // a ring
  std::size_t unit_first_ = 0;
  std::size_t unit_count_ = 0;
  double unit_free_;
  std::priority_queue<double, std::vector<double>, std::greater<>> fills_;  // of the MSHRs in use
  Places miss_queue_;
  Places bypass_queue_;
  double now_;
  double end_;
};

}  // namespace sonde::sim
