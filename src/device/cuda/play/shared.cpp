// Shared memory: latency by conflict and footprint, atomics, and copies.
#include "kernels/shared/shared.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/block_spans.hpp"
#include "device/cuda/lanes/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

static_assert(shared_atomic_group == kernels::atomics_in_row);
static_assert(shared_loads_in_row == kernels::shared_loads_in_row);
static_assert(as_kernel<kernels::SharedAtomic>(AtomicForm::counted) ==
              kernels::SharedAtomic::counted);

kernels::SharedChaseLaunch describe_chase(const SharedChaseProbe& probe) {
  kernels::SharedChaseLaunch launch;
  launch.threads = static_cast<std::uint32_t>(probe.thread_offsets_bytes.size());
  std::ranges::copy(probe.thread_offsets_bytes, launch.offsets_bytes);
  launch.words = probe.words;
  launch.step_bytes = probe.step_bytes;
  launch.hop_words = probe.hop_words;
  launch.data_bytes = static_cast<std::uint32_t>((shared_chase_span_bytes(probe) + 15) / 16 * 16);
  launch.accesses = static_cast<std::uint32_t>(std::min<std::uint64_t>(probe.accesses, 1u << 20));
  return launch;
}

std::uint64_t elements_of_block(const SharedStreamProbe& probe) {
  return static_cast<std::uint64_t>(probe.block_threads) * static_cast<std::uint64_t>(probe.ilp);
}

kernels::Kernel<kernels::SharedStreamLaunch> kernel_of(const SharedStreamProbe& probe) {
  return probe.work == SharedWork::loads
             ? kernels::find_shared_loads(probe.element_bytes)
             : kernels::find_shared_stream(probe.element_bytes, probe.ilp);
}

/// Blocks whose shared memory exactly fills an SM, so that no SM gets more than its share.
LaunchShape shape_of(const DeviceInfo& info, const SharedStreamProbe& probe) {
  const std::uint64_t share_bytes =
      info.shared_bytes_per_sm / static_cast<std::uint64_t>(probe.blocks_per_sm);
  const std::uint64_t reserved_bytes = info.reserved_shared_bytes_per_block;
  const std::uint64_t block_bytes =
      share_bytes <= reserved_bytes
          ? 0
          : std::min((share_bytes - reserved_bytes) / 128 * 128, info.shared_bytes_per_block);
  return {.grid_blocks = static_cast<unsigned>(info.sm_count * probe.blocks_per_sm),
          .block_threads = static_cast<unsigned>(probe.block_threads),
          .shared_bytes = static_cast<unsigned>(block_bytes),
          .carveout_percent = 100};
}

void check_shared_stream(const DeviceInfo& info, const SharedStreamProbe& probe,
                         const LaunchShape& shape) {
  const std::uint64_t needed_bytes = shared_stream_block_bytes(probe);
  if (needed_bytes > shape.shared_bytes) {
    throw_device_error(
        "{} blocks of {} B of shared memory do not fit on an SM (each can have {} B). Ask for "
        "fewer blocks, threads or elements",
        probe.blocks_per_sm, needed_bytes, shape.shared_bytes);
  }
  const int most = std::min(kernels::stream_max_threads(probe.element_bytes, probe.ilp),
                            info.max_threads_per_sm / probe.blocks_per_sm);
  const void* kernel = address_of(kernel_of(probe));
  if (kernel == nullptr || probe.block_threads > most) {
    throw_device_error(
        "a shared stream with ilp {} and {} threads is not possible (ilp 1, 2, 4, 6, 8; at most "
        "{} threads). Ask for another",
        probe.ilp, probe.block_threads, most);
  }
  // Counts by registers, threads and shared memory.
  int resident = 0;
  SONDE_CUDA_CHECK(prepare_kernel(kernel, shape));
  SONDE_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, kernel, probe.block_threads, shape.shared_bytes));
  if (resident < probe.blocks_per_sm) {
    throw_device_error(
        "an SM holds only {} blocks of such a shared stream at once, not {} (its registers are "
        "used up). Ask for fewer blocks, threads or elements",
        resident, probe.blocks_per_sm);
  }
}

void check_shares(std::span<const std::uint32_t> blocks_on_sm, std::uint32_t wanted) {
  for (std::size_t sm = 0; sm < blocks_on_sm.size(); ++sm) {
    if (blocks_on_sm[sm] == wanted) continue;
    throw_device_error(
        "SM {} got {} blocks instead of {} (its share of the work is wrong). Look for other "
        "processes on the GPU",
        sm, blocks_on_sm[sm], wanted);
  }
}

void refuse_bank_mode(BankMode mode) {
  if (mode == BankMode::four_bytes) return;
  throw_device_error(
      "shared memory banks of 8 bytes do not exist on this GPU (only Kepler had the choice). Ask "
      "for banks of 4 bytes");
}

}  // namespace

Trace play(Session& session, const SharedChaseProbe& probe) {
  refuse_bank_mode(probe.bank_mode);
  kernels::SharedChaseLaunch launch = describe_chase(probe);
  const layout::SharedPlan shared =
      layout::plan_shared(session.info(), kernels::shared_chase_bytes(launch));
  const std::vector<int> sms = rank_sms(probe.sms).sms;
  LaneLaunch lanes(session, {.sms = sms, .recorded = launch.accesses, .accesses = launch.accesses},
                   limit_for(4 * probe.accesses + 2 * probe.words));
  Trace trace =
      lanes.run(kernels::find_shared_chase(probe.element_bytes), launch, launch.threads, shared);
  for (std::size_t lane = 0; lane < sms.size(); ++lane) lanes.check_final_value(lane, 0);
  return trace;
}

Trace play(Session& session, const SharedAtomicProbe& probe) {
  kernels::SharedAtomicLaunch launch;
  std::ranges::copy(probe.thread_offsets_bytes, launch.offsets_bytes);
  launch.accesses = static_cast<std::uint32_t>(probe.accesses);
  const std::uint64_t words_end = std::ranges::max(probe.thread_offsets_bytes) + std::uint64_t{4};
  const layout::SharedPlan shared =
      layout::plan_shared(session.info(), kernels::shared_data_offset_bytes + words_end);
  // Every thread of a warp may have to wait for all others: 32 times the time of an access.
  const std::vector<int> sms = rank_sms(probe.sms).sms;
  LaneLaunch lanes(session, {.sms = sms, .recorded = 0, .accesses = probe.accesses},
                   limit_for(4 * warp_threads * probe.accesses));
  Trace trace =
      lanes.run(kernels::find_shared_atomics(as_kernel<kernels::SharedAtomic>(probe.form)), launch,
                warp_threads, shared);
  for (std::size_t lane = 0; lane < sms.size(); ++lane) lanes.check_final_value(lane, 0);
  return trace;
}

Trace play(Session& session, const SharedStreamProbe& probe) {
  refuse_bank_mode(probe.bank_mode);
  const DeviceInfo& info = session.info();
  const LaunchShape shape = shape_of(info, probe);
  check_shared_stream(info, probe, shape);
  LaunchArrays& arrays = session.arrays();
  const BlockSpans spans(session);
  const auto blocks = arrays.add_output<std::uint32_t>(kernels::max_sms);
  const auto arrived = arrays.add_output<std::uint32_t>(1);
  // A pass of 1024 threads with 16 elements takes some 2 us.
  const TimeLimit limit{std::chrono::milliseconds(500) +
                        std::chrono::microseconds(50) * probe.passes};
  kernels::SharedStreamLaunch launch;
  spans.describe(launch);
  launch.blocks_on_sm = blocks.device;
  launch.arrived = arrived.device;
  launch.passes = static_cast<std::uint32_t>(probe.passes);
  launch.limit_ns = limit.kernel_ns();
  session.run(limit, [&] {
    arrays.clear(blocks);
    arrays.clear(arrived);
    spans.clear();
    session.launch(kernel_of(probe), launch, shape);
  });
  if (spans.timed_out()) {
    throw_device_error(
        "a shared stream passed its deadline, or its blocks were not all resident at once (its "
        "times mean nothing). Look for other processes on the GPU");
  }
  const auto blocks_on_sm = blocks.host.first(static_cast<std::size_t>(info.sm_count));
  check_shares(blocks_on_sm, static_cast<std::uint32_t>(probe.blocks_per_sm));
  Trace trace;
  trace.shared_carveout_bytes = info.largest_carveout_bytes();
  trace.lanes = spans.read();
  for (LaneTrace& lane : trace.lanes) {
    lane.accesses = elements_of_block(probe) * static_cast<std::uint64_t>(probe.blocks_per_sm) *
                    static_cast<std::uint64_t>(probe.passes);
  }
  return trace;
}

}  // namespace sonde::cuda
