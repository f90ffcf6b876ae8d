// The accesses of a program, one by one: the meaning of AccessProgram, for every backend that plays
// one, and for tests.
#pragma once

#include "device/probe/program_probe.hpp"

namespace sonde {

/// Where each array begins, in bytes; the last entry is the size of all arrays.
std::vector<std::uint64_t> array_offsets_bytes(const AccessProgram& program);

/// A warp of a block of a kernel.
struct ProgramWarp {
  std::uint32_t block_x = 0;
  std::uint32_t block_y = 0;
  std::uint32_t warp = 0;
};

/// Passes of a loop for that warp, at least 0.
std::uint32_t passes_of(const PassCount& count, const ProgramWarp& warp);

/// Accesses that the warp makes in all.
std::uint64_t count_accesses(const ProgramKernel& kernel, const ProgramWarp& warp);

/// Divides sm_accesses among the kernels by the accesses of all their warps, in whole multiples of
/// `multiple` and at least one of them. @return [kernel]
std::vector<std::uint64_t> share_accesses(const AccessProgram& program, std::uint64_t sm_accesses,
                                          std::uint64_t multiple);

/// The part of a drawn number that depends only on the seed and ProgramAccess::draw.
std::uint32_t hash_draw(std::uint32_t seed, std::uint32_t draw);

/// The number below `range` that a group of threads draws in a pass.
/// @param draw ProgramAccess::draw
/// @param group number of the thread in the kernel / drawn_threads; a thread's number is
/// (blockIdx.y * grid_x + blockIdx.x) * threads of a block + thread of the block
std::uint32_t program_draw(std::uint32_t seed, std::uint32_t draw, std::uint32_t group,
                           std::uint32_t outer, std::uint32_t inner, std::uint32_t range);

/// The accesses of one warp, in order.
class ProgramCursor {
 public:
  /// At its end.
  ProgramCursor() = default;
  ProgramCursor(const AccessProgram& program, const ProgramKernel& kernel, const ProgramWarp& warp);

  /// True if there is no further access.
  bool at_end() const { return outer_ >= outers_; }
  const ProgramAccess& access() const { return kernel_->body[at_]; }
  /// True if the access is the first of a pass.
  bool begins_pass() const { return begins_pass_; }
  /// The elements that its 32 threads access, in their array.
  void elements(std::uint64_t (&elements)[32]) const;
  void advance();

 private:
  void settle();

  const AccessProgram* program_ = nullptr;
  const ProgramKernel* kernel_ = nullptr;
  ProgramWarp warp_;
  std::uint32_t outers_ = 0;
  std::uint32_t inners_ = 0;
  std::uint32_t outer_ = 0;
  std::uint32_t inner_ = 0;
  std::uint32_t at_ = 0;
  bool begins_pass_ = true;
};

}  // namespace sonde
