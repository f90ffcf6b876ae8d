// The probe of a program's loads and stores, in which some warps or blocks bypass the L1 (Dai et
// al., DAC 2016). The program is data, so that every device makes the same accesses. Part of the
// seam: probe.hpp lists it among all others.
#pragma once

#include "device/probe/load_path.hpp"
#include "trace/trace.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

inline constexpr std::uint64_t program_element_bytes = 4;
/// The most accesses of a pass: so many values wait in registers.
inline constexpr std::size_t most_program_accesses = 12;

/// In which passes of the inner loop an access is made.
enum class AccessPass { every, first, last };

/// One load or store of all threads of a warp, of one element each. The element of a thread is
///   first + per_block_x * blockIdx.x + per_block_y * blockIdx.y + per_thread_x * threadIdx.x +
///   per_thread_y * threadIdx.y + per_outer * outer pass + per_inner * inner pass
/// of its array. If `drawn_elements` is not 0, it also adds drawn_step times a number below
/// drawn_elements, which is drawn anew in each pass (program_draw). `drawn_threads` neighbours draw
/// the same number, and so do accesses of equal `draw`, scaled to their drawn_elements.
struct ProgramAccess {
  bool store = false;
  /// A load that waits for the values of all loads before it in its pass; stores always do.
  bool waits = false;
  AccessPass pass = AccessPass::every;
  std::uint32_t array = 0;  // of AccessProgram::array_elements
  std::uint32_t first = 0;
  std::uint32_t per_block_x = 0;
  std::uint32_t per_block_y = 0;
  std::uint32_t per_thread_x = 0;
  std::uint32_t per_thread_y = 0;
  std::uint32_t per_outer = 0;
  std::uint32_t per_inner = 0;
  std::uint32_t drawn_elements = 0;
  std::uint32_t drawn_step = 1;
  std::uint32_t drawn_threads = 1;
  std::uint32_t draw = 0;
};

/// Passes of a loop: first + per_block * blockIdx.x + per_warp * warp of the block.
struct PassCount {
  std::int32_t first = 1;
  std::int32_t per_block = 0;
  std::int32_t per_warp = 0;
};

/// A kernel: each warp makes `outer` passes, each of `inner` passes. An inner pass makes the
/// accesses of the body in order; its loads do not wait for each other, but the next pass does.
struct ProgramKernel {
  std::uint32_t grid_x = 1;
  std::uint32_t grid_y = 1;
  std::uint32_t block_x = 32;  // block_x * block_y is a multiple of 32
  std::uint32_t block_y = 1;
  PassCount outer = {};
  PassCount inner = {};
  std::vector<ProgramAccess> body = {};
  /// Other instructions of a pass. A device that plays only accesses leaves them out.
  std::uint32_t instructions = 0;
};

/// A program, with a short name ("kms"). Arrays follow each other, from multiples of 4 KiB.
struct AccessProgram {
  std::string name;
  std::vector<std::uint64_t> array_elements;
  std::vector<ProgramKernel> kernels;
  std::uint32_t seed = 0;  // of the numbers that it draws
};

/// What `cached` counts: warps of each block, or blocks that an SM holds at once.
enum class BypassLevel { warp, block };

/// How loads bypass the L1 (PTX ISA, ld): past it (cg), or through it with a hint.
enum class BypassPath { past_l1, no_allocate, evict_first };

enum class WarpScheduler { greedy_then_oldest, round_robin, two_level };
enum class L1Index { modulo, xor_bits };

/// The hardware of Dai 2016, section 6, that chooses `cached` itself while the program runs, from
/// shadow tags and a count of reservation failures. Each SM has one, or all SMs share one.
struct DynamicBypass {
  bool one_for_all = false;
  double e = 0.5;       // weight of a reservation failure
  double exponent = 3;  // of how failures grow with the cached share
  int period_accesses = 1000;

  bool operator==(const DynamicBypass&) const = default;
};

/// Changes of the machine that plays the program. Real GPUs refuse all of them.
struct MachineChange {
  std::optional<WarpScheduler> scheduler = {};
  std::optional<L1Index> l1_index = {};
  std::optional<std::uint64_t> l1_bytes = {};  // 0: no L1
  std::optional<DynamicBypass> dynamic = {};
  /// Lines are protected for a reuse distance that the L1 learns; a load that finds no unprotected
  /// line bypasses (PDP: Duong et al., MICRO 2012).
  bool protecting_distance = false;

  bool operator==(const MachineChange&) const = default;
};

/// What LaneTrace::counts holds, in this order; not_counted if the device does not know.
enum class ProgramCount {
  instructions,          // issued
  l1_hits,               // lines of loads that found their data in the L1
  l1_misses,             // lines of loads that did not
  reservation_failures,  // cycles in which a miss found no line, MSHR or miss queue entry
  l2_requests,           // that left the SM
  dram_requests,         // those that missed the L2
  issue_cycles,          // that loads took to issue
  periods,               // of the dynamic bypass
  cached_in_periods,     // sum of the numbers that it chose
};
inline constexpr std::size_t program_count_total = 9;
inline constexpr std::uint64_t not_counted = ~std::uint64_t{0};

/// Each SM makes `sm_accesses` accesses of the program (a load or store of a warp is one), divided
/// among the kernels by their numbers of accesses. An SM holds `resident_blocks` at once. If the
/// device gives blocks out, the next block goes to an SM that has room, and SMs make sm_accesses on
/// average; otherwise block b belongs to the SM of rank b modulo the number of SMs. The first block
/// follows the last. When a kernel begins, only caches behind the L1 may hold lines of the program.
///
/// The first `cached` warps of each block, or of the blocks that an SM holds, load through the L1;
/// all others bypass it by `bypass_path`. All stores are plain.
///
/// One lane for each warp of each SM, or of `lane_sms` SMs spread evenly, with elapsed_cycles of
/// all kernels together. With `windows` each load is waited for and timed on its own: the lane has
/// window_cycles of all loads, in order, and issue_cycles. Counts of a whole SM stand in the lane
/// of its warp 0.
struct ProgramProbe {
  AccessProgram program;
  int resident_blocks = 1;
  int active_warps = 0;  // warps of an SM that run at a time; 0: all that it holds
  BypassLevel level = BypassLevel::warp;
  int cached = 0;
  BypassPath bypass_path = BypassPath::past_l1;
  std::uint64_t sm_accesses = 0;
  bool windows = false;
  int lane_sms = 0;  // 0: lanes of all SMs
  /// The carve-out; unset: the smallest that holds the record, so the largest L1.
  std::optional<std::uint64_t> shared_carveout_bytes = {};
  Place place = 0;
  MachineChange machine = {};
  std::vector<int> sms = {};  // empty: all
};

std::string_view to_text(BypassLevel level);
std::string_view to_text(BypassPath path);
std::string_view to_text(WarpScheduler scheduler);
std::string_view to_text(L1Index index);

/// Warps of a block of the kernel. All blocks of a program have the same number of warps.
int block_warps(const ProgramKernel& kernel);

/// Warps that an SM holds at once.
int resident_warps(const ProgramProbe& probe);

/// Keeps the lanes of `lane_sms` SMs, spread evenly over those of the trace.
void keep_lanes(const ProgramProbe& probe, std::vector<LaneTrace>& lanes);

/// The largest `cached`: the warps of a block, or the resident blocks.
int bypass_units(const ProgramProbe& probe);

nlohmann::json describe(const ProgramProbe& probe);

/// @throws Error naming the field
void check(const ProgramProbe& probe, int sm_count);

}  // namespace sonde
