// Names, checks and the JSON description of the probes of control flow.
#include "device/probe/control_probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {
namespace {

using nlohmann::json;

constexpr EnumName<BranchShape> shape_names[]{{BranchShape::switch_cases, "switch_cases"},
                                              {BranchShape::else_chain, "else_chain"},
                                              {BranchShape::nested, "nested"}};
constexpr EnumName<WaitProgram> program_names[]{
    {WaitProgram::handshake, "handshake"},
    {WaitProgram::spin_release, "spin_release"},
    {WaitProgram::barrier_against_spin, "barrier_against_spin"},
    {WaitProgram::diverged_barrier, "diverged_barrier"}};
constexpr EnumName<BarrierKind> barrier_names[]{{BarrierKind::block, "block"},
                                                {BarrierKind::clocked, "clocked"},
                                                {BarrierKind::named, "named"},
                                                {BarrierKind::cluster, "cluster"},
                                                {BarrierKind::grid, "grid"}};
/// Longer than anybody waits for a kernel: 2 s at 2 GHz.
constexpr std::uint64_t most_limit_cycles = 4'000'000'000;
/// CUDA programming guide, __nanosleep: at most a millisecond.
constexpr std::uint32_t most_asked_ns = 1'000'000;

void check_distinct(std::vector<int> sms, int sm_count) {
  require(!sms.empty(), "a probe of control flow needs SMs");
  check_sms(sms, sm_count);
  std::ranges::sort(sms);
  require(std::ranges::adjacent_find(sms) == sms.end(), "an SM is named twice");
}

}  // namespace

json describe(const BranchProbe& probe) {
  json result = {{"shape", name_of(shape_names, probe.shape)},
                 {"path_of_thread", probe.path_of_thread},
                 {"warps", probe.warps}};
  if (probe.shape == BranchShape::nested) result["depth"] = probe.depth;
  return result;
}

json describe(const WaitProbe& probe) {
  return {{"program", name_of(program_names, probe.program)}, {"limit_cycles", probe.limit_cycles}};
}

json describe(const BarrierProbe& probe) {
  return {{"kind", name_of(barrier_names, probe.kind)},
          {"warps", probe.warps},
          {"cluster_blocks", probe.cluster_blocks},
          {"barriers", probe.barriers}};
}

json describe(const SleepProbe& probe) {
  return {{"asked_ns", probe.asked_ns}, {"samples", probe.samples}};
}

json describe(const OccupancyProbe& probe) {
  return {{"registers_per_thread", probe.registers_per_thread},
          {"block_threads", probe.block_threads},
          {"shared_bytes", probe.shared_bytes}};
}

void check(const BranchProbe& probe, int sm_count) {
  check_distinct(probe.sms, sm_count);
  require(probe.warps > 0, "a branch probe needs warps");
  require(probe.path_of_thread.size() == warp_threads,
          "path_of_thread must name a path for each thread of a warp");
  require(probe.depth >= 0 && probe.depth <= most_branch_depth, "depth must lie between 0 and 5");
  const int paths = probe.shape == BranchShape::nested ? 1 << probe.depth : most_branch_paths;
  for (int path : probe.path_of_thread) {
    require(path >= 0 && path < paths,
            "path_of_thread must lie between 0 and " + std::to_string(paths - 1));
  }
}

void check(const WaitProbe& probe, int sm_count) {
  check_distinct(probe.sms, sm_count);
  require(probe.limit_cycles > 0 && probe.limit_cycles <= most_limit_cycles,
          "limit_cycles must lie between 1 and 4000000000");
}

void check(const BarrierProbe& probe, int sm_count) {
  require(probe.warps > 0 && probe.cluster_blocks > 0, "a barrier probe needs positive counts");
  require(probe.barriers > 0 && probe.barriers % barrier_group == 0,
          "barriers must be a multiple of 16");
  if (probe.kind == BarrierKind::grid) require(probe.warps == 1, "a grid barrier has one warp");
  if (probe.kind == BarrierKind::cluster || probe.kind == BarrierKind::grid) return;
  check_distinct(probe.sms, sm_count);
}

void check(const SleepProbe& probe, int sm_count) {
  check_distinct(probe.sms, sm_count);
  require(probe.samples > 0, "a sleep probe needs samples");
  require(probe.asked_ns <= most_asked_ns, "asked_ns must not exceed a millisecond");
}

void check(const OccupancyProbe& probe, int) {
  require(probe.registers_per_thread > 0 && probe.block_threads > 0,
          "an occupancy probe needs positive counts");
  require(probe.block_threads <= most_occupancy_threads(probe.registers_per_thread),
          "block_threads must not exceed 256 with more than 64 registers, and 1024 with less");
}

}  // namespace sonde
