// The warps that an SM holds: blocks come to it one after the other, as others are done.
#pragma once

#include "device/sim/program/warp_accesses.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::sim {

/// How many an SM holds, and which blocks are its own.
struct ResidentShape {
  std::uint64_t rank = 0;  // among the SMs that play
  std::uint64_t ranks = 1;
  int blocks = 1;       // that it holds
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
  /// @throws DeviceError if no warp of the SM has an access
  ResidentWarps(const ResidentShape& shape, const KernelAccesses& kernel, double begin);

  std::size_t count() const { return warps_.size(); }
  ResidentWarp& operator[](std::size_t slot) { return warps_[slot]; }

  /// The warp of that slot has made its accesses; its data come at pass_ready. If its block is done
  /// with it, the next block begins; with fewer active warps than the SM holds, the next warp does.
  ReplacedSlots end_warp(std::size_t slot);

  /// The number of the block among those that the SM holds.
  int block_of(std::size_t slot) const { return static_cast<int>(slot) / shape_.block_warps; }

 private:
  void begin_block(std::size_t first, double time);
  void begin_next_warp(ResidentWarp& warp, double time);
  void begin_warp(ResidentWarp& warp, std::uint64_t number, double time);
  bool has_accesses(std::uint64_t block) const;

  ResidentShape shape_;
  const KernelAccesses* kernel_;
  std::vector<ResidentWarp> warps_;
  std::vector<int> running_;      // warps of each block that are not done
  std::uint64_t own_blocks_ = 1;  // of the kernel, that this SM plays
  std::uint64_t begun_ = 0;       // blocks, or warps if fewer are active
  bool one_by_one_ = false;
};

}  // namespace sonde::sim
