// Chooses the warp of an SM that issues next. Slot s belongs to scheduler s modulo their number. A
// warp is ready, or will be ready at a known time, or waits for an event.
#pragma once

#include "device/probe/program_probe.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace sonde::sim {

/// Most warps of an SM, as bits of a word [64: GPUs from Kepler on, CUDA programming guide].
inline constexpr std::size_t most_sm_warps = 64;

class WarpSchedulers {
 public:
  /// @param warps most_sm_warps at most
  WarpSchedulers(WarpScheduler rule, int schedulers, std::size_t warps, double begin)
      : rule_(rule),
        own_(static_cast<std::size_t>(schedulers)),
        free_(own_.size(), begin),
        last_(own_.size(), no_slot),
        ages_(warps),
        times_(warps),
        first_wake_(never) {
    for (std::size_t slot = 0; slot < warps; ++slot) own_[slot % own_.size()] |= bit(slot);
  }

  /// The next instruction of the warp can issue from `time` on.
  /// @param is_access it needs the load-store unit
  void set_next(std::size_t slot, double time, bool is_access) {
    accessing_ = is_access ? accessing_ | bit(slot) : accessing_ & ~bit(slot);
    ready_ &= ~bit(slot);
    asleep_ |= bit(slot);
    times_[slot] = time;
    first_wake_ = std::min(first_wake_, time);
  }
  /// The warp can issue nothing until set_next().
  void set_waiting(std::size_t slot) {
    ready_ &= ~bit(slot);
    asleep_ &= ~bit(slot);
  }
  /// The slot holds a new warp, the youngest.
  void set_youngest(std::size_t slot) { ages_[slot] = ++youngest_; }
  /// The scheduler issues nothing else before `until`.
  void occupy(int scheduler, std::size_t slot, double until) {
    free_[static_cast<std::size_t>(scheduler)] = until;
    last_[static_cast<std::size_t>(scheduler)] = slot;
  }

  /// The slot from which the scheduler issues at `now`. Times never go back.
  /// @param unit_full accesses cannot issue
  std::optional<std::size_t> choose(int scheduler, double now, bool unit_full) {
    wake(now);
    const auto at = static_cast<std::size_t>(scheduler);
    if (free_[at] > now) return std::nullopt;
    Slots can = ready_ & own_[at];
    if (unit_full) can &= ~accessing_;
    if (can == 0) return std::nullopt;
    const std::size_t last = last_[at];
    if (rule_ == WarpScheduler::greedy_then_oldest) {
      return last != no_slot && (can & bit(last)) != 0 ? last : oldest(can);
    }
    if (rule_ == WarpScheduler::two_level && last != no_slot) {
      // The group that issued last goes on, warp after warp, while any warp of it can.
      const std::size_t width = group_warps * own_.size();
      const std::size_t first = last / width * width;
      const Slots behind = first + width < most_sm_warps ? ~(bit(first + width) - 1) : 0;
      const Slots group = can & ~(bit(first) - 1) & ~behind;
      if (group != 0) can = group;
    }
    return next_after(can, last);
  }

  /// When something could issue next; infinite if never.
  double next_time(bool unit_full) const {
    double next = first_wake_;
    const Slots can = unit_full ? ready_ & ~accessing_ : ready_;
    for (std::size_t at = 0; at < own_.size(); ++at) {
      if ((can & own_[at]) != 0) next = std::min(next, free_[at]);
    }
    return next;
  }

  int count() const { return static_cast<int>(free_.size()); }

 private:
  using Slots = std::uint64_t;  // a bit each
  /// Warps of a scheduler that the two-level one takes together (fetch groups of 8: Narasiman et
  /// al., MICRO 2011).
  static constexpr std::size_t group_warps = 8;
  static constexpr std::size_t no_slot = most_sm_warps;
  static constexpr double never = std::numeric_limits<double>::infinity();

  static constexpr Slots bit(std::size_t slot) { return Slots{1} << slot; }

  void wake(double now) {
    if (first_wake_ > now) return;
    first_wake_ = never;
    for (Slots left = asleep_; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      if (times_[slot] > now) {
        first_wake_ = std::min(first_wake_, times_[slot]);
      } else {
        asleep_ &= ~bit(slot);
        ready_ |= bit(slot);
      }
    }
  }
  std::size_t oldest(Slots slots) const {
    auto found = static_cast<std::size_t>(std::countr_zero(slots));
    for (Slots left = slots & (slots - 1); left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      if (ages_[slot] < ages_[found]) found = slot;
    }
    return found;
  }
  /// The first of `slots` after `last`, or else the first of all.
  std::size_t next_after(Slots slots, std::size_t last) const {
    const Slots behind = last + 1 < most_sm_warps ? slots & ~(bit(last + 1) - 1) : 0;
    return static_cast<std::size_t>(std::countr_zero(behind != 0 ? behind : slots));
  }

  WarpScheduler rule_;
  std::vector<Slots> own_;         // by scheduler
  std::vector<double> free_;       // by scheduler
  std::vector<std::size_t> last_;  // slot that issued last, by scheduler
  std::vector<std::uint64_t> ages_;
  std::vector<double> times_;  // by slot: when a sleeping warp is ready
  std::uint64_t youngest_ = 0;
  double first_wake_;
  Slots ready_ = 0;
  Slots asleep_ = 0;
  Slots accessing_ = 0;
};

}  // namespace sonde::sim
