// Names, checks and the JSON description of programs.
#include "device/probe/program_probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {
namespace {

using nlohmann::json;

constexpr EnumName<BypassLevel> level_names[]{{BypassLevel::warp, "warp"},
                                              {BypassLevel::block, "block"}};
constexpr EnumName<BypassPath> bypass_path_names[]{{BypassPath::past_l1, "past_l1"},
                                                   {BypassPath::no_allocate, "no_allocate"},
                                                   {BypassPath::evict_first, "evict_first"}};
constexpr EnumName<WarpScheduler> scheduler_names[]{
    {WarpScheduler::greedy_then_oldest, "greedy_then_oldest"},
    {WarpScheduler::round_robin, "round_robin"},
    {WarpScheduler::two_level, "two_level"}};
constexpr EnumName<L1Index> index_names[]{{L1Index::modulo, "modulo"},
                                          {L1Index::xor_bits, "xor_bits"}};

/// Elements of all arrays of a program and numbers within them fit into 32 bits.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 30;
constexpr std::int64_t most_passes = 1 << 24;

json describe_machine(const MachineChange& machine) {
  json result = json::object();
  if (machine.scheduler) result["scheduler"] = to_text(*machine.scheduler);
  if (machine.l1_index) result["l1_index"] = to_text(*machine.l1_index);
  if (machine.l1_bytes) result["l1_bytes"] = *machine.l1_bytes;
  if (machine.dynamic) {
    result["dynamic"] = {{"one_for_all", machine.dynamic->one_for_all},
                         {"e", machine.dynamic->e},
                         {"exponent", machine.dynamic->exponent},
                         {"period_accesses", machine.dynamic->period_accesses}};
  }
  if (machine.protecting_distance) result["protecting_distance"] = true;
  return result;
}

/// Least and most passes of a loop in any warp of the kernel.
struct PassRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

PassRange range_of(const PassCount& count, const ProgramKernel& kernel) {
  const std::int64_t blocks = std::int64_t{count.per_block} * (std::int64_t{kernel.grid_x} - 1);
  const std::int64_t warps = std::int64_t{count.per_warp} * (block_warps(kernel) - 1);
  return {count.first + std::min<std::int64_t>(blocks, 0) + std::min<std::int64_t>(warps, 0),
          count.first + std::max<std::int64_t>(blocks, 0) + std::max<std::int64_t>(warps, 0)};
}

std::uint64_t largest_element(const ProgramAccess& access, const ProgramKernel& kernel) {
  const auto last = [](std::uint64_t step, std::int64_t count) {
    return step * static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0));
  };
  return access.first + last(access.per_block_x, kernel.grid_x) +
         last(access.per_block_y, kernel.grid_y) + last(access.per_thread_x, kernel.block_x) +
         last(access.per_thread_y, kernel.block_y) +
         last(access.per_outer, range_of(kernel.outer, kernel).most) +
         last(access.per_inner, range_of(kernel.inner, kernel).most) +
         last(access.drawn_step, access.drawn_elements);
}

void check_kernel(const AccessProgram& program, const ProgramKernel& kernel) {
  const std::uint64_t threads = std::uint64_t{kernel.block_x} * kernel.block_y;
  require(kernel.grid_x > 0 && kernel.grid_y > 0 && threads > 0 && threads % warp_threads == 0,
          "a kernel of a program needs a grid, and blocks of whole warps");
  require(std::uint64_t{kernel.grid_x} * kernel.grid_y * threads < most_elements,
          "a kernel of a program has too many threads");
  require(!kernel.body.empty() && kernel.body.size() <= most_program_accesses,
          "a kernel of a program makes 1 to 12 accesses in a pass");
  for (const PassCount* count : {&kernel.outer, &kernel.inner}) {
    const PassRange range = range_of(*count, kernel);
    require(range.least >= 0 && range.most > 0 && range.most <= most_passes,
            "the passes of a loop of a program must lie between 0 and 2^24");
  }
  for (const ProgramAccess& access : kernel.body) {
    require(access.array < program.array_elements.size(), "an access of a program needs an array");
    require(access.drawn_threads > 0 && access.drawn_threads <= warp_threads,
            "drawn_threads must lie between 1 and 32");
    require(largest_element(access, kernel) < program.array_elements[access.array],
            "an access of a program leaves its array");
  }
  require(kernel.body.front().pass == AccessPass::every && !kernel.body.front().store,
          "the first access of a pass must be a load that every pass makes");
}

void check_program(const AccessProgram& program) {
  require(!program.kernels.empty(), "a program needs a kernel");
  std::uint64_t elements = 0;
  for (std::uint64_t array : program.array_elements) {
    require(array > 0 && array < most_elements, "an array of a program needs a fair size");
    elements += array;
  }
  require(elements < most_elements, "the arrays of a program must be smaller than 4 GiB");
  for (const ProgramKernel& kernel : program.kernels) {
    check_kernel(program, kernel);
    require(block_warps(kernel) == block_warps(program.kernels.front()),
            "all kernels of a program need blocks of the same number of warps");
  }
}

}  // namespace

std::string_view to_text(BypassLevel level) { return name_of(level_names, level); }
std::string_view to_text(BypassPath path) { return name_of(bypass_path_names, path); }
std::string_view to_text(WarpScheduler scheduler) { return name_of(scheduler_names, scheduler); }
std::string_view to_text(L1Index index) { return name_of(index_names, index); }

int block_warps(const ProgramKernel& kernel) {
  return static_cast<int>(kernel.block_x * kernel.block_y / warp_threads);
}

int resident_warps(const ProgramProbe& probe) {
  const int warps = probe.resident_blocks * block_warps(probe.program.kernels.front());
  return probe.active_warps > 0 ? std::min(warps, probe.active_warps) : warps;
}

int bypass_units(const ProgramProbe& probe) {
  return probe.level == BypassLevel::warp ? block_warps(probe.program.kernels.front())
                                          : probe.resident_blocks;
}

void keep_lanes(const ProgramProbe& probe, std::vector<LaneTrace>& lanes) {
  const auto warps = static_cast<std::size_t>(resident_warps(probe));
  const std::size_t sms = lanes.size() / warps;
  const auto kept = static_cast<std::size_t>(probe.lane_sms);
  if (kept == 0 || kept >= sms) return;
  std::size_t at = 0;
  std::erase_if(lanes, [&](const LaneTrace&) {
    const std::size_t sm = at++ / warps;
    // The k-th SM that is kept is k * sms / kept, rounded down.
    return (sm * kept + sms - 1) / sms * sms / kept != sm;
  });
}

json describe(const ProgramProbe& probe) {
  json result = {{"program", probe.program.name},
                 {"seed", probe.program.seed},
                 {"resident_blocks", probe.resident_blocks},
                 {"block_warps", block_warps(probe.program.kernels.front())},
                 {"level", to_text(probe.level)},
                 {"cached", probe.cached},
                 {"bypass_path", to_text(probe.bypass_path)},
                 {"sm_accesses", probe.sm_accesses},
                 {"windows", probe.windows},
                 {"place", probe.place}};
  if (probe.lane_sms > 0) result["lane_sms"] = probe.lane_sms;
  if (probe.active_warps > 0) result["active_warps"] = probe.active_warps;
  if (probe.shared_carveout_bytes) result["shared_carveout_bytes"] = *probe.shared_carveout_bytes;
  if (probe.machine != MachineChange{}) result["machine"] = describe_machine(probe.machine);
  return result;
}

void check(const ProgramProbe& probe, int sm_count) {
  check_program(probe.program);
  require(probe.lane_sms >= 0, "lane_sms must not be negative");
  require(probe.resident_blocks > 0 && probe.active_warps >= 0,
          "a program needs blocks that an SM holds");
  require(probe.cached >= 0 && probe.cached <= bypass_units(probe),
          "cached must lie between 0 and the warps of a block, or the resident blocks");
  require(probe.sm_accesses > 0, "a program needs accesses to make");
  if (const auto& dynamic = probe.machine.dynamic) {
    require(dynamic->period_accesses > 0, "a dynamic bypass needs a period");
  }
  check_sms(probe.sms, sm_count);
}

}  // namespace sonde
