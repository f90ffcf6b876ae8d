// Programs on a GPU: each kernel of a program is a launch of one block on each SM, played once
// before it is timed, so that the L2 and the TLBs hold what they can.
#include "kernels/program/program.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "device/probe/program_plan.hpp"

#include <algorithm>
#include <limits>

namespace sonde::cuda {
namespace {

static_assert(most_program_accesses == kernels::most_program_loads);

constexpr std::uint64_t most_accesses = std::uint64_t{1} << 31;  // they are counted in 32 bits
constexpr int least_major_of_hints = 7;                          // PTX ISA, ld: sm_70 or higher

/// Accesses of a kernel that the host makes again as a check: less than 0.1 ms.
constexpr std::uint64_t checked_accesses = 1u << 8;

std::string_view name_change(const MachineChange& machine) {
  if (machine.scheduler) return "scheduler of warps";
  if (machine.l1_index) return "index of the L1";
  if (machine.l1_bytes) return "size of the L1 beyond its carve-out";
  if (machine.dynamic) return "L1 (dynamic bypass)";
  return "L1 (protected lines)";
}

void refuse(const DeviceInfo& info, const ProgramProbe& probe) {
  if (probe.machine != MachineChange{}) {
    throw_device_error(
        "a real GPU cannot change its {} (that is hardware). Play the program on a simulated GPU, "
        "or as the machine is",
        name_change(probe.machine));
  }
  const int most_warps = info.max_threads_per_block / info.warp_threads;
  if (resident_warps(probe) > most_warps) {
    throw_device_error(
        "{} warps of a program on an SM do not fit into one block (at most {}; an SM gets one, so "
        "that its warps share the L1). Ask for fewer resident blocks, or fewer active warps",
        resident_warps(probe), most_warps);
  }
  if (probe.bypass_path != BypassPath::past_l1 && info.compute_major < least_major_of_hints) {
    throw_device_error(
        "loads with the hint {} do not exist on compute capability {}.{} (they came with 7.0). "
        "Bypass by past_l1",
        to_text(probe.bypass_path), info.compute_major, info.compute_minor);
  }
  if (probe.sm_accesses >= most_accesses) {
    throw_device_error(
        "a program of {} accesses on an SM is too long (at most 2^31). Ask for fewer",
        probe.sm_accesses);
  }
}

kernels::L1Use to_kernel(BypassPath path) {
  switch (path) {
    case BypassPath::past_l1: return kernels::L1Use::past;
    case BypassPath::no_allocate: return kernels::L1Use::no_allocate;
    case BypassPath::evict_first: break;
  }
  return kernels::L1Use::evict_first;
}

kernels::ProgramPasses to_kernel(const PassCount& count) {
  return {.first = count.first, .per_block = count.per_block, .per_warp = count.per_warp};
}

kernels::Divisor to_divisor(std::uint32_t value) {
  return {.value = value, .inverse = std::numeric_limits<std::uint32_t>::max() / value};
}

/// @param array_element where its array begins, in elements
kernels::ProgramAccess to_kernel(const ProgramAccess& access, std::uint64_t array_element,
                                 std::uint32_t seed) {
  return {.first = access.first + static_cast<std::uint32_t>(array_element),
          .per_block_x = access.per_block_x,
          .per_block_y = access.per_block_y,
          .per_thread_x = access.per_thread_x,
          .per_thread_y = access.per_thread_y,
          .per_outer = access.per_outer,
          .per_inner = access.per_inner,
          .drawn_elements = access.drawn_elements,
          .drawn_step = access.drawn_step,
          .drawn_threads = to_divisor(access.drawn_threads),
          .draw_hash = hash_draw(seed, access.draw)};
}

std::vector<std::uint64_t> array_elements_of(const AccessProgram& program) {
  std::vector<std::uint64_t> elements = array_offsets_bytes(program);
  for (std::uint64_t& offset : elements) offset /= program_element_bytes;
  return elements;
}

/// Puts the loads of the body before its stores: a store waits for all loads of the pass.
void describe_body(const AccessProgram& program, std::vector<ProgramAccess> body,
                   kernels::ProgramLaunch& launch) {
  const std::vector<std::uint64_t> array_elements = array_elements_of(program);
  const auto stores =
      std::ranges::stable_partition(body, std::logical_not(), &ProgramAccess::store);
  launch.loads = static_cast<std::uint32_t>(body.size() - stores.size());
  launch.in_every = 0;
  for (std::size_t at = 0; at < body.size(); ++at) {
    const ProgramAccess& access = body[at];
    launch.body[at] = to_kernel(access, array_elements[access.array], program.seed);
    const std::uint32_t bit = 1u << at;
    if (access.waits) launch.waits |= bit;
    switch (access.pass) {
      case AccessPass::every: launch.in_every |= bit; break;
      case AccessPass::first: launch.in_first |= bit; break;
      case AccessPass::last: launch.in_last |= bit; break;
    }
  }
}

/// @param accesses of the kernel on an SM
kernels::ProgramLaunch describe_kernel(const ProgramProbe& probe, const ProgramKernel& kernel,
                                       std::uint64_t accesses) {
  kernels::ProgramLaunch launch;
  const bool by_warp = probe.level == BypassLevel::warp;
  const auto cached = static_cast<std::uint32_t>(probe.cached);
  launch.warps = static_cast<std::uint32_t>(resident_warps(probe));
  launch.warp_accesses = static_cast<std::uint32_t>(accesses / launch.warps);
  launch.grid_x = to_divisor(kernel.grid_x);
  launch.blocks = kernel.grid_x * kernel.grid_y;
  launch.block_x = to_divisor(kernel.block_x);
  launch.block_threads = to_divisor(kernel.block_x * kernel.block_y);
  launch.block_warps = static_cast<std::uint32_t>(block_warps(kernel));
  launch.cached_warps = by_warp ? cached : 0;
  launch.cached_blocks = by_warp ? 0 : cached;
  launch.bypass = to_kernel(probe.bypass_path);
  launch.outer = to_kernel(kernel.outer);
  launch.inner = to_kernel(kernel.inner);
  describe_body(probe.program, kernel.body, launch);
  return launch;
}

/// One launch for each kernel, all with room for the windows of the longest one and of the pass
/// that a warp ends after it has made its accesses.
std::vector<kernels::ProgramLaunch> describe_launches(const ProgramProbe& probe) {
  const auto warps = static_cast<std::uint64_t>(resident_warps(probe));
  const auto shares = share_accesses(probe.program, probe.sm_accesses, warps);
  std::vector<kernels::ProgramLaunch> launches;
  std::uint32_t recorded = 0;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const ProgramKernel& kernel = probe.program.kernels[at];
    launches.push_back(describe_kernel(probe, kernel, shares[at]));
    const auto rest_of_pass = static_cast<std::uint32_t>(kernel.body.size() - 1);
    recorded = std::max(recorded, launches.back().warp_accesses + rest_of_pass);
  }
  for (kernels::ProgramLaunch& launch : launches) launch.recorded = probe.windows ? recorded : 0;
  return launches;
}

/// The lanes of each SM are the warps of its block.
Lanes lanes_of(const std::vector<int>& sms, const kernels::ProgramLaunch& launch) {
  Lanes lanes{.sms = {}, .recorded = launch.recorded, .accesses = 0};
  for (int sm : sms) lanes.sms.insert(lanes.sms.end(), launch.warps, sm);
  return lanes;
}

/// For each lane, whether the trace has it: the lanes of `lane_sms` SMs, chosen as by keep_lanes.
std::vector<bool> lanes_kept(const ProgramProbe& probe, std::size_t sms) {
  const auto warps = static_cast<std::size_t>(resident_warps(probe));
  const std::size_t kept_sms = probe.lane_sms == 0 ? sms : static_cast<std::size_t>(probe.lane_sms);
  std::vector<bool> kept(sms * warps);
  for (std::size_t i = 0; i < kept_sms; ++i) {
    std::fill_n(kept.begin() + static_cast<std::ptrdiff_t>(i * sms / kept_sms * warps), warps,
                true);
  }
  return kept;
}

/// What a warp of the launch should have accessed.
struct Expected {
  std::uint32_t accesses = 0;
  std::uint32_t elements = 0;  // sum over all its threads
};

/// Adds all accesses of one warp of the program, or as many as the launch wants.
void play_warp(const AccessProgram& program, std::uint32_t wanted, ProgramCursor& cursor,
               Expected& expected) {
  const std::vector<std::uint64_t> array_elements = array_elements_of(program);
  for (; !cursor.at_end(); cursor.advance()) {
    if (cursor.begins_pass() && expected.accesses >= wanted) return;
    std::uint64_t elements[warp_threads];
    cursor.elements(elements);
    for (std::uint64_t element : elements) {
      expected.elements +=
          static_cast<std::uint32_t>(array_elements[cursor.access().array] + element);
    }
    ++expected.accesses;
  }
}

/// Makes the accesses of a lane again, on the host.
Expected play_lane(const AccessProgram& program, const ProgramKernel& kernel,
                   const kernels::ProgramLaunch& launch, std::size_t lane) {
  const std::uint32_t sms = launch.placement.wanted;
  const auto rank = static_cast<std::uint32_t>(lane / launch.warps);
  std::vector<std::uint32_t> blocks{rank % launch.blocks};
  while (blocks.back() + sms < launch.blocks) blocks.push_back(blocks.back() + sms);
  const std::size_t sm_warps = blocks.size() * launch.block_warps;
  Expected expected;
  std::size_t idle = 0;
  for (std::size_t at = lane % launch.warps;
       expected.accesses < launch.warp_accesses && idle < sm_warps; at += launch.warps) {
    const std::uint32_t block = blocks[at / launch.block_warps % blocks.size()];
    ProgramCursor cursor(program, kernel,
                         {.block_x = block % kernel.grid_x,
                          .block_y = block / kernel.grid_x,
                          .warp = static_cast<std::uint32_t>(at % launch.block_warps)});
    idle = cursor.at_end() ? idle + 1 : 0;
    play_warp(program, launch.warp_accesses, cursor, expected);
  }
  return expected;
}

/// Checks some lanes, or all if they made few accesses.
/// @throws DeviceError if one accessed other elements than the program says
void check_elements(const AccessProgram& program, const ProgramKernel& kernel,
                    const kernels::ProgramLaunch& launch, const LaneLaunch& lanes,
                    std::span<const kernels::ProgramCounts> counts) {
  const std::uint64_t accesses = counts.size() * launch.warp_accesses;
  const auto step = static_cast<std::size_t>(accesses / checked_accesses + 1);
  for (std::size_t lane = 0; lane < counts.size(); lane += step) {
    const Expected expected = play_lane(program, kernel, launch, lane);
    if (counts[lane].accesses != expected.accesses) {
      throw_device_error(
          "warp {} made {} accesses of a program instead of {} (its time would stand for other "
          "work). Report this as a bug",
          lane, counts[lane].accesses, expected.accesses);
    }
    lanes.check_final_value(lane, expected.elements);
  }
}

/// Adds the results of one kernel to the lanes of the trace.
/// @param kept for each lane, whether the trace has it
void add_kernel(const ProgramProbe& probe, std::span<const kernels::ProgramCounts> counts,
                const std::vector<bool>& kept, Trace kernel, Trace& trace) {
  constexpr auto issue_cycles = static_cast<std::size_t>(ProgramCount::issue_cycles);
  if (trace.lanes.empty()) {
    trace.shared_carveout_bytes = kernel.shared_carveout_bytes;
    trace.lanes.resize(kernel.lanes.size());
  }
  const auto warps = static_cast<std::size_t>(resident_warps(probe));
  std::size_t number = 0;
  for (std::size_t at = 0; at < counts.size(); ++at) {
    if (!kept[at]) continue;
    const LaneTrace& of_kernel = kernel.lanes[number];
    LaneTrace& lane = trace.lanes[number++];
    lane.sm = of_kernel.sm;
    lane.warp = static_cast<int>(at % warps);
    lane.elapsed_cycles += of_kernel.elapsed_cycles;
    lane.accesses += counts[at].accesses;
    if (!probe.windows) continue;
    const std::span<const std::uint32_t> windows = of_kernel.window_cycles;
    const auto made = windows.first(counts[at].windows);
    lane.window_cycles.insert(lane.window_cycles.end(), made.begin(), made.end());
    if (lane.counts.empty()) {
      lane.counts.assign(program_count_total, not_counted);
      lane.counts[issue_cycles] = 0;
    }
    lane.counts[issue_cycles] += counts[at].issue_cycles;
  }
}

}  // namespace

Trace play(Session& session, const ProgramProbe& probe) {
  refuse(session.info(), probe);
  const std::vector<int> sms =
      rank_sms(probe.sms.empty() ? all_sms(session.info()) : probe.sms).sms;
  std::vector<kernels::ProgramLaunch> launches = describe_launches(probe);
  const layout::SharedPlan shared = layout::plan_shared(
      session.info(), kernels::program_shared_bytes(launches.front()), probe.shared_carveout_bytes);
  LaneLaunch lanes(session, lanes_of(sms, launches.front()), limit_for(probe.sm_accesses));
  const std::uint64_t lane_count = sms.size() * launches.front().warps;
  const auto counts = session.arrays().add_output<kernels::ProgramCounts>(lane_count);
  const std::uint64_t data_bytes = array_offsets_bytes(probe.program).back();
  std::byte* data = session.data(probe.place, data_bytes);
  SONDE_CUDA_CHECK(cudaMemsetAsync(data, 0, data_bytes, session.stream()));
  const std::vector<bool> kept = lanes_kept(probe, sms.size());
  const auto run = [&](kernels::ProgramLaunch& launch) {
    launch.base = reinterpret_cast<std::uint64_t>(data);
    launch.counts = counts.device;
    return lanes.run(
        kernels::find_program(launch), launch, launch.warps * warp_threads, shared, [] {}, kept);
  };
  for (kernels::ProgramLaunch& launch : launches) run(launch);
  Trace trace;
  for (std::size_t at = 0; at < launches.size(); ++at) {
    Trace kernel = run(launches[at]);
    check_elements(probe.program, probe.program.kernels[at], launches[at], lanes, counts.host);
    add_kernel(probe, counts.host, kept, std::move(kernel), trace);
  }
  return trace;
}

}  // namespace sonde::cuda
