// Which warp of an SM issues next. Slot s belongs to scheduler s modulo their number; a warp is
// ready, or will be at a known time, or waits for something that is yet to happen.
#pragma once

#include "device/probe/program_probe.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::sim {

/// Warps of an SM, at most [64: every GPU from Kepler on, CUDA programming guide]: bits of a word.
inline constexpr std::size_t most_sm_warps = 64;

class WarpSchedulers {
 public:
  /// @param warps most_sm_warps at most
  WarpSchedulers(WarpScheduler rule, int schedulers, std::size_t warps, double begin);

  /// What the warp does next can issue from `time` on.
  /// @param is_access it needs the load-store unit
  void set_next(std::size_t slot, double time, bool is_access);
  /// Nothing, until told otherwise.
  void set_waiting(std::size_t slot);
  /// The slot holds another warp now, the youngest.
  void set_youngest(std::size_t slot) { ages_[slot] = ++youngest_; }
  /// The scheduler issues nothing else before `until`.
  void occupy(int scheduler, std::size_t slot, double until);

  /// The slot that the scheduler takes at that time. Times never go back.
  /// @param unit_full accesses cannot issue
  std::optional<std::size_t> choose(int scheduler, double now, bool unit_full);

  /// When, after `now`, something could issue; infinite if never.
  double next_time(bool unit_full) const;

  int count() const { return static_cast<int>(free_.size()); }

 private:
  using Slots = std::uint64_t;  // a bit each

  void wake(double now);
  std::size_t oldest(Slots slots) const;
  std::size_t next_after(Slots slots, std::size_t last) const;

  WarpScheduler rule_;
  std::vector<Slots> own_;         // by scheduler
  std::vector<double> free_;       // by scheduler
  std::vector<std::size_t> last_;  // slot that issued last, by scheduler
  std::vector<std::uint64_t> ages_;
  std::vector<double> times_;  // by slot, of those asleep
  std::uint64_t youngest_ = 0;
  double first_wake_;
  Slots ready_ = 0;
  Slots asleep_ = 0;
  Slots accessing_ = 0;
};

}  // namespace sonde::sim
