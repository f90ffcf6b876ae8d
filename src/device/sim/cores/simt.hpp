// Plays the warps of one block: the paths of diverged threads, barriers, and waiting for words in
// shared memory. play/control.cpp writes the small programs that the warps run.
#pragma once

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/sim/model/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::sim {

using ThreadMask = std::uint32_t;
inline constexpr ThreadMask whole_warp = 0xffffffff;

enum class SimtOp {
  branch,     // `threads` jump to `target`, the others go on; both sides meet at `join`
  jump,       // to `target`
  operate,    // one dependent operation
  stamp,      // writes the time to `slot` of each thread
  signal,     // sets `word` to `value`
  release,    // sets `word` to the number of the thread plus one
  count,      // adds the number of threads to `word`
  await,      // spins until `word` is `value`; writes the time to `slot`, 0 if it gives up
  await_own,  // the same, until `word` is the number of the thread
  barrier,    // waits until `value` threads have arrived
  arrive,     // arrives at the barrier without waiting
  delay,      // waits `value` cycles
  leave_if,   // jumps to `target` if `word` is `value`
  end
};

struct SimtInstruction {
  SimtOp op = SimtOp::end;
  ThreadMask threads = 0;
  int target = 0;
  int join = 0;
  std::size_t word = 0;
  std::uint32_t value = 0;
  std::size_t slot = 0;
};

/// Costs that the section `control` of a model does not declare.
struct SimtCosts {
  std::uint32_t look_cycles = 0;   // of a load from shared memory
  std::uint32_t stamp_cycles = 0;  // of reading the clock
};

inline constexpr std::size_t simt_slots = 8;

class SimtBlock {
 public:
  /// @param limit_cycles after which a spinning thread gives up
  SimtBlock(const ControlModel& model, const SimtCosts& costs, std::uint64_t limit_cycles)
      : model_(model), costs_(costs), limit_cycles_(limit_cycles) {}

  void add_warp(std::vector<SimtInstruction> program, std::uint64_t start_cycles) {
    Warp& warp = warps_.emplace_back();
    warp.program = std::move(program);
    warp.paths.push_back({.mask = whole_warp});
    warp.numbers = 1;
    warp.time = start_cycles;
  }

  /// Runs all warps to their end. @throws DeviceError if warps wait at a barrier for ever
  void run() {
    for (;;) {
      Warp* first = nullptr;
      bool all_done = true;
      for (Warp& warp : warps_) {
        all_done = all_done && warp.paths.empty();
        if (next_runnable(warp) && (first == nullptr || warp.time < first->time)) first = &warp;
      }
      if (all_done) return;
      if (first == nullptr) {
        throw DeviceError("threads wait at a barrier for ever (nobody else comes to it) and hang");
      }
      step(*first);
    }
  }

  /// The time in a slot of a thread; 0 if the thread wrote none, or gave up.
  std::uint64_t stamp(std::size_t warp, std::size_t thread, std::size_t slot) const {
    return warps_[warp].stamps[thread][slot];
  }
  std::uint64_t end_cycles() const {
    std::uint64_t end = 0;
    for (const Warp& warp : warps_) end = std::max(end, warp.time);
    return end;
  }

 private:
  /// Calls `use` with the number of each thread in the mask.
  template <class Use>
  static void for_each_thread(ThreadMask mask, const Use& use) {
    for (; mask != 0; mask &= mask - 1) use(static_cast<std::uint32_t>(std::countr_zero(mask)));
  }

  /// Threads that run together. For a path that waits at a join, `mask` holds all threads that will
  /// meet there, and `joined` the threads that have arrived.
  struct Path {
    int number = 0;
    int parent = -1;  // number of the path that waits at its join
    ThreadMask mask = 0;
    int at = 0;
    int join = -1;
    bool joining = false;
    ThreadMask joined = 0;
    bool at_barrier = false;
  };
  struct Warp {
    std::vector<SimtInstruction> program;
    std::vector<Path> paths;  // the last one runs
    int numbers = 0;
    std::uint64_t time = 0;
    bool held = false;  // waits as a whole at a barrier that counts warps
    std::array<std::array<std::uint64_t, simt_slots>, warp_threads> stamps{};
  };

  void step(Warp& warp) {
    Path& path = warp.paths.back();
    if (path.at == path.join) return end_path(warp);
    const SimtInstruction& now = warp.program[static_cast<std::size_t>(path.at)];
    switch (now.op) {
      case SimtOp::branch: return split(warp, path.mask & now.threads, now);
      case SimtOp::await:
      case SimtOp::await_own: return spin(warp, now);
      case SimtOp::barrier: return come_to_barrier(warp, now);
      case SimtOp::end: return end_path(warp);
      case SimtOp::jump: path.at = now.target; return;
      case SimtOp::leave_if:
        warp.time += costs_.look_cycles;
        path.at = words_[now.word] == now.value ? now.target : path.at + 1;
        return;
      case SimtOp::operate: warp.time += model_.operation_cycles; break;
      case SimtOp::stamp:
        for_each_thread(path.mask, [&](auto t) { warp.stamps[t][now.slot] = warp.time; });
        warp.time += costs_.stamp_cycles;
        break;
      case SimtOp::signal:
        words_[now.word] = now.value;
        warp.time += model_.operation_cycles;
        break;
      case SimtOp::release:
        for_each_thread(path.mask, [&](auto t) { words_[now.word] = t + 1; });
        warp.time += model_.operation_cycles;
        break;
      case SimtOp::count:
        words_[now.word] += static_cast<std::uint32_t>(std::popcount(path.mask));
        warp.time += model_.operation_cycles;
        break;
      case SimtOp::arrive:
        count_arrival(static_cast<std::uint32_t>(std::popcount(path.mask)), now.value, warp.time);
        break;
      case SimtOp::delay: warp.time += now.value; break;
    }
    ++path.at;
  }
  /// Splits the last path at a branch. The side that runs first becomes the last path; the path
  /// that split waits at the join for both sides.
  void split(Warp& warp, ThreadMask taken, const SimtInstruction& branch) {
    Path& path = warp.paths.back();
    const ThreadMask fall = path.mask & ~taken;
    warp.time += model_.branch_cycles;
    if (taken == 0 || fall == 0) {
      path.at = taken == 0 ? path.at + 1 : branch.target;
      return;
    }
    Path jumping{.number = warp.numbers++,
                 .parent = path.number,
                 .mask = taken,
                 .at = branch.target,
                 .join = branch.join};
    Path falling = jumping;
    falling.number = warp.numbers++;
    falling.mask = fall;
    falling.at = path.at + 1;
    path.at = branch.join;
    path.joining = true;
    const bool taken_first = model_.first == FirstSide::taken;
    warp.paths.push_back(taken_first ? falling : jumping);
    warp.paths.push_back(taken_first ? jumping : falling);
  }
  /// Threads that find their value leave the loop, and wait behind it for the others.
  void spin(Warp& warp, const SimtInstruction& wait) {
    Path& path = warp.paths.back();
    warp.time += costs_.look_cycles;
    ThreadMask leaving = 0;
    for_each_thread(path.mask, [&](std::uint32_t t) {
      const std::uint32_t wanted = wait.op == SimtOp::await_own ? t : wait.value;
      const bool found = words_[wait.word] == wanted;
      if (!found && warp.time < limit_cycles_) return;
      warp.stamps[t][wait.slot] = found ? warp.time : 0;
      leaving |= 1u << t;
    });
    if (leaving == path.mask) {
      ++path.at;
      return;
    }
    if (leaving == 0) return let_others_run(warp);
    Path staying{.number = warp.numbers++,
                 .parent = path.number,
                 .mask = path.mask & ~leaving,
                 .at = path.at,
                 .join = path.at + 1};
    ++path.at;
    path.joining = true;
    path.joined = leaving;
    warp.paths.push_back(staying);
  }
  void come_to_barrier(Warp& warp, const SimtInstruction& barrier) {
    Path& path = warp.paths.back();
    warp.time += model_.barrier.arrival_cycles;
    path.at_barrier = true;
    const bool whole = model_.barrier.counts == BarrierCount::warps;
    warp.held = whole;
    const auto threads = static_cast<std::uint32_t>(std::popcount(path.mask));
    count_arrival(whole ? warp_threads : threads, barrier.value, warp.time);
  }
  void count_arrival(std::uint32_t threads, std::uint32_t wanted, std::uint64_t time) {
    arrived_ += threads;
    if (arrived_ < wanted) return;
    arrived_ = 0;
    const std::uint64_t free = time + model_.barrier.latency_cycles;
    for (Warp& warp : warps_) {
      for (Path& path : warp.paths) {
        if (!path.at_barrier) continue;
        path.at_barrier = warp.held = false;
        ++path.at;
        warp.time = std::max(warp.time, free);
      }
    }
  }
  /// Ends the last path, at its join or at the end of the program.
  void end_path(Warp& warp) {
    const Path done = warp.paths.back();
    warp.paths.pop_back();
    if (done.at != done.join) return;
    const auto parent = std::ranges::find(warp.paths, done.parent, &Path::number);
    parent->joined |= done.mask;
    if (parent->joined != parent->mask) {
      warp.time += model_.path_switch_cycles;
      return;
    }
    warp.time += model_.reconvergence_cycles;
    parent->joining = false;
    parent->joined = 0;
    std::rotate(parent, parent + 1, warp.paths.end());
  }
  /// With independent thread scheduling a spinning path lets other threads run: those that wait at
  /// the nearest join of any enclosing path, or, if none wait, another path.
  void let_others_run(Warp& warp) {
    if (model_.threads == ThreadScheduling::stack) return;
    const auto find = [&](int number) {
      return std::ranges::find(warp.paths, number, &Path::number);
    };
    auto above = find(warp.paths.back().parent);
    while (above != warp.paths.end() && above->joined == 0) above = find(above->parent);
    if (above == warp.paths.end()) {
      std::rotate(warp.paths.begin(), warp.paths.end() - 1, warp.paths.end());
      return;
    }
    const Path freed{.number = warp.numbers++,
                     .parent = above->parent,
                     .mask = above->joined,
                     .at = above->at,
                     .join = above->join};
    // The freed threads skip this join and meet the others at the join around it.
    above->mask &= ~above->joined;
    above->joined = 0;
    warp.paths.push_back(freed);
  }
  /// True if the warp can go on; the path that runs is then the last one. Only with independent
  /// thread scheduling can a path overtake one that waits.
  bool next_runnable(Warp& warp) const {
    if (warp.held || warp.paths.empty()) return false;
    const auto waits = [](const Path& path) { return path.at_barrier || path.joining; };
    if (!waits(warp.paths.back())) return true;
    if (model_.threads == ThreadScheduling::stack) return false;
    const auto found = std::find_if_not(warp.paths.rbegin(), warp.paths.rend(), waits);
    if (found == warp.paths.rend()) return false;
    std::rotate(found.base() - 1, found.base(), warp.paths.end());
    return true;
  }

  const ControlModel& model_;
  SimtCosts costs_;
  std::uint64_t limit_cycles_;
  std::vector<Warp> warps_;
  std::array<std::uint32_t, 4> words_{};
  std::uint32_t arrived_ = 0;
};

}  // namespace sonde::sim
