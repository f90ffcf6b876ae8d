// What is still to be done of a kernel: blocks to give out, and accesses to make.
#pragma once

#include "device/sim/program/warp_accesses.hpp"

#include <cstdint>

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

}  // namespace sonde::sim
