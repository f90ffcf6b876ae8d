// The work that is left of a kernel: blocks to give out and accesses to make; and the warps that an
// SM holds, which come block after block as others are done.
#pragma once

#include "device/device_error.hpp"
#include "device/probe/program_plan.hpp"
#include "device/sim/program/memory_side.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sonde::sim {

/// The lines of one access of a warp, each once, in the order of the threads.
struct AccessLines {
  std::array<LineAccess, 32> lines;
  std::uint32_t count = 0;
};

/// A kernel of a program, and where its arrays lie.
struct PlacedProgram {
  const AccessProgram& program;
  const ProgramKernel& kernel;
  std::vector<std::uint64_t> array_addresses;
  std::uint64_t line_bytes = 128;  // a power of two

  /// Finds the lines of the access at the cursor.
  void find_lines(const ProgramCursor& cursor, AccessLines& lines) const {
    constexpr int sector_shift = std::countr_zero(smallest_sector_bytes);
    const int line_shift = std::countr_zero(line_bytes) - sector_shift;  // from sectors to lines
    const std::uint64_t array = array_addresses[cursor.access().array];
    std::uint64_t elements[32];
    cursor.elements(elements);
    std::uint64_t before = ~std::uint64_t{0};
    lines.count = 0;
    for (const std::uint64_t element : elements) {
      const std::uint64_t sector = (array + element * program_element_bytes) >> sector_shift;
      if (sector == before) continue;
      before = sector;
      const std::uint64_t line = sector >> line_shift;
      std::uint32_t at = lines.count;
      while (at > 0 && lines.lines[at - 1].line != line) --at;
      if (at == 0) {
        lines.lines[lines.count] = {.line = line, .sectors = 0};
        at = ++lines.count;
      }
      lines.lines[at - 1].sectors |= Sectors{1} << (sector - (line << line_shift));
    }
  }
};

/// The SMs that play a kernel share this object: the next block goes to the SM that has room first,
/// and all SMs are done when they have made all accesses together.
class KernelWork {
 public:
  /// @param placed refers to objects that outlive this one
  /// @param step from one block to the next; 1: all blocks
  /// @throws DeviceError if no warp of these blocks makes an access
  KernelWork(PlacedProgram placed, std::uint64_t step, std::uint64_t accesses)
      : placed_(std::move(placed)),
        blocks_(std::uint64_t{kernel().grid_x} * kernel().grid_y),
        step_(step),
        left_(accesses) {
    for (std::uint64_t block = 0; block < blocks_; block += step_) {
      if (has_accesses(block)) return;
    }
    throw DeviceError(
        "no warp of an SM makes an access (the passes of a loop are 0 in each of its blocks) give "
        "the loop passes, or play the program on fewer SMs");
  }

  const PlacedProgram& placed() const { return placed_; }
  const ProgramKernel& kernel() const { return placed_.kernel; }

  /// The number of the next block in which a warp makes an access; after the last comes the first.
  std::uint64_t take_block() {
    while (true) {
      const std::uint64_t block = next_;
      next_ = next_ + step_ < blocks_ ? next_ + step_ : 0;
      if (has_accesses(block)) return block;
    }
  }

  /// The accesses of a warp, none made yet. @param warp of the block
  ProgramCursor warp_of(std::uint64_t block, std::uint64_t warp) const {
    return {placed_.program, kernel(), place_of(block, warp)};
  }

  bool done() const { return left_ == 0; }
  /// @pre not done()
  void count_access() { --left_; }

 private:
  ProgramWarp place_of(std::uint64_t block, std::uint64_t warp) const {
    const std::uint64_t columns = kernel().grid_x;
    return {.block_x = static_cast<std::uint32_t>(block % columns),
            .block_y = static_cast<std::uint32_t>(block / columns),
            .warp = static_cast<std::uint32_t>(warp)};
  }

  bool has_accesses(std::uint64_t block) const {
    for (int warp = 0; warp < block_warps(kernel()); ++warp) {
      const ProgramWarp place = place_of(block, static_cast<std::uint64_t>(warp));
      if (count_accesses(kernel(), place) > 0) return true;
    }
    return false;
  }

  PlacedProgram placed_;
  std::uint64_t blocks_;  // of the kernel
  std::uint64_t step_;
  std::uint64_t next_ = 0;
  std::uint64_t left_;
};

/// How many blocks and warps an SM holds.
struct ResidentShape {
  int blocks = 1;
  int block_warps = 1;  // of each
  int active = 0;       // warps that run at a time; 0: all
};

struct ResidentWarp {
  ProgramCursor accesses;         // none before the first block
  int warp = 0;                   // of its block
  double pass_ready = 0;          // when the loads of this pass have come
  std::uint32_t outstanding = 0;  // loads in the load-store unit
  bool instructions_issued = false;
};

/// Slots `first` .. `end` - 1, which hold new warps.
struct ReplacedSlots {
  std::size_t first = 0;
  std::size_t end = 0;
};

class ResidentWarps {
 public:
  /// All slots are empty. @param work outlives this
  ResidentWarps(const ResidentShape& shape, KernelWork& work)
      : work_(&work),
        block_warps_(static_cast<std::size_t>(shape.block_warps)),
        next_warp_(block_warps_) {
    const auto held = static_cast<std::size_t>(shape.blocks) * block_warps_;
    const auto active = static_cast<std::size_t>(shape.active);
    const bool one_by_one = active > 0 && active < held;
    warps_.resize(one_by_one ? active : held);
    group_warps_ = one_by_one ? 1 : block_warps_;
    running_.resize(warps_.size() / group_warps_);
  }

  std::size_t count() const { return warps_.size(); }
  ResidentWarp& operator[](std::size_t slot) { return warps_[slot]; }

  /// Puts the warps of one more block into slots that never had a warp, as far as there are any.
  ReplacedSlots add_block(double time) {
    const std::size_t first = filled_;
    filled_ = std::min(first + block_warps_, warps_.size());
    for (std::size_t slot = first; slot < filled_; slot += group_warps_) begin_group(slot, time);
    return {.first = first, .end = filled_};
  }

  /// The warp of a slot has made its accesses; its data come at pass_ready. When its block is done,
  /// the next block begins; if not all warps are active, the next warp begins at once.
  ReplacedSlots end_warp(std::size_t slot) {
    const std::size_t group = slot / group_warps_;
    if (--running_[group] > 0) return {};
    const std::size_t first = group * group_warps_;
    const std::size_t end = first + group_warps_;
    double done = 0;
    for (std::size_t other = first; other < end; ++other) {
      done = std::max(done, warps_[other].pass_ready);
    }
    begin_group(first, done);
    return {.first = first, .end = end};
  }

  /// The number of a slot's block among the blocks that the SM holds.
  int block_of(std::size_t slot) const { return static_cast<int>(slot / block_warps_); }

 private:
  /// Begins warps that are replaced together; at least one of them has an access.
  void begin_group(std::size_t first, double time) {
    int& running = running_[first / group_warps_];
    for (running = 0; running == 0;) {
      for (std::size_t slot = first; slot < first + group_warps_; ++slot) {
        begin_warp(slot, time);
        running += warps_[slot].accesses.at_end() ? 0 : 1;
      }
    }
  }

  /// Begins the next warp of the block under way, or of the block after it.
  void begin_warp(std::size_t slot, double time) {
    if (next_warp_ == block_warps_) {
      block_ = work_->take_block();
      next_warp_ = 0;
    }
    warps_[slot] = {.accesses = work_->warp_of(block_, next_warp_),
                    .warp = static_cast<int>(next_warp_),
                    .pass_ready = time};
    ++next_warp_;
  }

  KernelWork* work_;
  std::vector<ResidentWarp> warps_;
  std::size_t block_warps_;
  std::size_t group_warps_ = 1;  // that are replaced together: a block, or one warp
  std::vector<int> running_;     // warps of each group that are not done
  std::size_t filled_ = 0;       // slots that have had a warp
  std::uint64_t block_ = 0;      // the block under way
  std::size_t next_warp_;        // of that block
};

}  // namespace sonde::sim
