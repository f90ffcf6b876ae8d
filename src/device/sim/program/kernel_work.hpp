// What is still to be done of a kernel: blocks to give out, and accesses to make; and the warps
// that an SM holds: blocks come to it one after the other, as others are done.
#pragma once

#include "device/sim/program/warp_accesses.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::sim {

/// Shared by the SMs that play the kernel: the next block goes to the SM that has room first, and
/// all of them are done when they have made the accesses together.
class KernelWork {
 public:
  /// @param kernel outlives this  @param step from one block to the next: 1 gives out all
  /// @throws DeviceError if no warp of these blocks makes an access
  KernelWork(const KernelAccesses& kernel, std::uint64_t step, std::uint64_t accesses);

  const KernelAccesses& kernel() const { return *kernel_; }

  /// The number of the next block in which a warp makes an access; after the last comes the first.
  std::uint64_t take_block();

  /// Accesses of that warp, none yet made. @param warp of the block
  WarpAccesses warp_of(std::uint64_t block, std::uint64_t warp) const;

  bool done() const { return left_ == 0; }
  /// @pre not done()
  void count_access() { --left_; }

 private:
  ProgramWarp place_of(std::uint64_t block, std::uint64_t warp) const;
  bool has_accesses(std::uint64_t block) const;

  const KernelAccesses* kernel_;
  std::uint64_t blocks_;  // of the kernel
  std::uint64_t step_;
  std::uint64_t next_ = 0;
  std::uint64_t left_;
};

/// How many an SM holds.
struct ResidentShape {
  int blocks = 1;
  int block_warps = 1;  // of each
  int active = 0;       // warps that run at a time; 0: all of those
};

/// A warp that the SM holds.
struct ResidentWarp {
  WarpAccesses accesses;
  int warp = 0;                   // of its block
  double pass_ready = 0;          // loads of this pass have come
  std::uint32_t outstanding = 0;  // loads in the load-store unit
  bool instructions_issued = false;
};

/// Slots that hold other warps now: from `first` to before `end`.
struct ReplacedSlots {
  std::size_t first = 0;
  std::size_t end = 0;
};

class ResidentWarps {
 public:
  /// Slots without warps. @param work outlives this
  ResidentWarps(const ResidentShape& shape, KernelWork& work);

  std::size_t count() const { return warps_.size(); }
  ResidentWarp& operator[](std::size_t slot) { return warps_[slot]; }

  /// The warps of one more block, in slots that had none; no slots if all have.
  ReplacedSlots add_block(double time);

  /// The warp of that slot has made its accesses; its data come at pass_ready. If its block is done
  /// with it, the next block begins; with fewer active warps than the SM holds, the next warp does.
  ReplacedSlots end_warp(std::size_t slot);

  /// The number of the block among those that the SM holds.
  int block_of(std::size_t slot) const { return static_cast<int>(slot) / shape_.block_warps; }

 private:
  void begin_block(std::size_t first, double time);
  void begin_next_warp(std::size_t slot, double time);
  void begin_warp(std::size_t slot, std::uint64_t block, std::uint64_t warp, double time);

  ResidentShape shape_;
  KernelWork* work_;
  std::vector<ResidentWarp> warps_;
  std::vector<int> running_;  // warps of each block that are not done
  std::size_t filled_ = 0;    // slots that have had a warp
  bool one_by_one_ = false;
  std::uint64_t block_ = 0;      // whose warps begin one by one ...
  std::uint64_t next_warp_ = 0;  // ... and the next of them
};

}  // namespace sonde::sim
