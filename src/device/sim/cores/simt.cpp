// Steps warps one instruction at a time: splits paths at branches, joins them, spins, and lets
// barriers go.
#include "device/sim/cores/simt.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sonde::sim {
namespace {

/// Calls for the number of each thread of a mask.
template <class Use>
void for_each_thread(ThreadMask mask, const Use& use) {
  for (; mask != 0; mask &= mask - 1) use(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace

SimtBlock::SimtBlock(const ControlModel& model, const SimtCosts& costs, std::uint64_t limit_cycles)
    : model_(model), costs_(costs), limit_cycles_(limit_cycles) {}

void SimtBlock::add_warp(std::vector<SimtInstruction> program, std::uint64_t start_cycles) {
  Warp& warp = warps_.emplace_back();
  warp.program = std::move(program);
  warp.paths.push_back({.mask = whole_warp});
  warp.numbers = 1;
  warp.time = start_cycles;
}

std::uint64_t SimtBlock::end_cycles() const {
  std::uint64_t end = 0;
  for (const Warp& warp : warps_) end = std::max(end, warp.time);
  return end;
}

/// Whether the warp can go on; a path that can is the last one then. Only threads with places of
/// their own can overtake a path that waits.
bool SimtBlock::next_runnable(Warp& warp) const {
  if (warp.held || warp.paths.empty()) return false;
  const auto waits = [](const Path& path) { return path.at_barrier || path.joining; };
  if (!waits(warp.paths.back())) return true;
  if (model_.threads == ThreadScheduling::stack) return false;
  const auto found = std::find_if_not(warp.paths.rbegin(), warp.paths.rend(), waits);
  if (found == warp.paths.rend()) return false;
  std::rotate(found.base() - 1, found.base(), warp.paths.end());
  return true;
}

void SimtBlock::run() {
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

void SimtBlock::step(Warp& warp) {
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

/// The side that runs first becomes the last path; the one it came from waits for both.
void SimtBlock::split(Warp& warp, ThreadMask taken, const SimtInstruction& branch) {
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

/// At its join, or at the end of the program.
void SimtBlock::end_path(Warp& warp) {
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

/// Those who find what they wait for leave the loop, and join the others behind it.
void SimtBlock::spin(Warp& warp, const SimtInstruction& wait) {
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

/// A path that spins makes room for another one, if threads have places of their own: for those who
/// wait for it at a join, which need not be the next one, or else for one that can run.
void SimtBlock::let_others_run(Warp& warp) {
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
  // Nobody waits for those who go ahead: they meet the others where they all end.
  above->mask &= ~above->joined;
  above->joined = 0;
  warp.paths.push_back(freed);
}

void SimtBlock::count_arrival(std::uint32_t threads, std::uint32_t wanted, std::uint64_t time) {
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

void SimtBlock::come_to_barrier(Warp& warp, const SimtInstruction& barrier) {
  Path& path = warp.paths.back();
  warp.time += model_.barrier.arrival_cycles;
  path.at_barrier = true;
  const bool whole = model_.barrier.counts == BarrierCount::warps;
  warp.held = whole;
  const auto threads = static_cast<std::uint32_t>(std::popcount(path.mask));
  count_arrival(whole ? warp_threads : threads, barrier.value, warp.time);
}

}  // namespace sonde::sim
