// The accesses of a warp of a program as the load-store unit sees them: the lines that each covers,
// and which sectors of them.
#pragma once

#include "device/probe/program_plan.hpp"
#include "device/sim/program/memory_side.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sonde::sim {

struct LineAccess {
  std::uint64_t line = 0;  // address / line_bytes
  Sectors sectors = 0;
};

/// The lines of one access of a warp, each once, in the order of the threads.
struct AccessLines {
  std::array<LineAccess, 32> lines;
  std::uint32_t count = 0;
};

/// A kernel of a program with all that its warps have in common worked out.
class KernelAccesses {
 public:
  /// @param buffer_address where the program's arrays begin
  KernelAccesses(const AccessProgram& program, const ProgramKernel& kernel,
                 std::uint64_t buffer_address, std::uint64_t line_bytes);

  const ProgramKernel& kernel() const { return *kernel_; }
  int warps() const { return warps_; }
  std::uint64_t line_bytes() const { return std::uint64_t{1} << line_shift_; }

 private:
  friend class WarpAccesses;
  static constexpr std::uint32_t uneven = ~0u;

  const AccessProgram* program_;
  const ProgramKernel* kernel_;
  int warps_;
  int line_shift_;
  std::uint64_t sector_mask_;                   // of sectors in a line
  std::vector<std::uint64_t> array_addresses_;  // by access of the body
  std::vector<std::uint32_t> thread_elements_;  // [access][warp][thread]
  std::vector<std::uint32_t> thread_steps_;     // [access][warp] of a sector at most, or `uneven`
};

/// The same accesses as those of a ProgramCursor, faster.
class WarpAccesses {
 public:
  /// Nothing to access.
  WarpAccesses() = default;
  WarpAccesses(const KernelAccesses& kernel, const ProgramWarp& warp);

  bool at_end() const { return outer_ >= outers_; }
  const ProgramAccess& access() const { return kernel_->kernel_->body[at_]; }
  /// Begins a pass: the accesses before it must be done.
  bool begins_pass() const { return at_ == 0; }
  void lines(AccessLines& lines) const;
  void advance();

 private:
  std::uint32_t drawn(const ProgramAccess& access, std::uint32_t thread) const;
  void add(std::uint64_t address, AccessLines& lines) const;

  const KernelAccesses* kernel_ = nullptr;
  std::array<std::uint32_t, most_program_accesses> elements_{};  // of thread 0 in pass 0
  ProgramWarp warp_;
  std::uint32_t first_thread_ = 0;  // number in the kernel
  std::uint32_t outers_ = 0;
  std::uint32_t inners_ = 0;
  std::uint32_t outer_ = 0;
  std::uint32_t inner_ = 0;
  std::uint32_t at_ = 0;
};

}  // namespace sonde::sim
