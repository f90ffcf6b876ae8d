// Shared memory: conflict latency and copies.
#include "base/error.hpp"
#include "device/cuda/carveout.hpp"
#include "device/cuda/placed_launch.hpp"
#include "device/cuda/players.hpp"
#include "kernels/shared.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

kernels::SharedChaseLaunch describe_chase(const SharedChaseProbe& probe) {
  if (probe.thread_offsets_bytes.size() > 32) {
    throw DeviceError(
        "a shared chase has more than 32 threads (it is played by one warp). Give at "
        "most 32 offsets");
  }
  kernels::SharedChaseLaunch launch;
  launch.threads = static_cast<std::uint32_t>(probe.thread_offsets_bytes.size());
  std::ranges::copy(probe.thread_offsets_bytes, launch.offsets_bytes);
  const std::uint32_t largest = *std::ranges::max_element(probe.thread_offsets_bytes);
  launch.data_bytes = (largest + 8 + 15) / 16 * 16;
  launch.accesses = static_cast<std::uint32_t>(std::min<std::uint64_t>(probe.accesses, 1u << 20));
  return launch;
}

/// Blocks of `shared_bytes` each that exactly fill an SM, so that no SM gets more than its share.
std::uint64_t shared_share_bytes(const DeviceInfo& info, int blocks_per_sm) {
  const std::uint64_t share = info.shared_bytes_per_sm / static_cast<std::uint64_t>(blocks_per_sm);
  const std::uint64_t reserved = info.reserved_shared_bytes_per_block;
  if (share <= reserved) return 0;
  return std::min((share - reserved) / 128 * 128, info.shared_bytes_per_block);
}

void check_shared_stream(const DeviceInfo& info, const SharedStreamProbe& probe,
                         std::uint64_t share_bytes) {
  const std::uint64_t needed = 2ull * static_cast<std::uint64_t>(probe.ilp) *
                               static_cast<std::uint64_t>(probe.block_threads) *
                               static_cast<std::uint64_t>(probe.element_bytes);
  if (needed > share_bytes) {
    throw DeviceError(
        fmt::format("{} blocks of {} B of shared memory do not fit on an SM (each can "
                    "have {} B). Ask for fewer blocks, threads or elements",
                    probe.blocks_per_sm, needed, share_bytes));
  }
  const int most = std::min(kernels::stream_max_threads(probe.element_bytes, probe.ilp),
                            info.max_threads_per_sm / probe.blocks_per_sm);
  if (!kernels::stream_ilp_exists(probe.ilp) || probe.block_threads > most) {
    throw DeviceError(
        fmt::format("a shared stream with ilp {} and {} threads is not possible (ilp "
                    "1, 2, 4, 8, 16; at most {} threads). Ask for another",
                    probe.ilp, probe.block_threads, most));
  }
}

}  // namespace

void refuse_bank_mode(BankMode mode) {
  if (mode == BankMode::four_bytes) return;
  throw DeviceError(
      "shared memory banks of 8 bytes do not exist on this GPU (only Kepler had the "
      "choice). Ask for banks of 4 bytes");
}

Trace play_shared_chase(Session& session, const SharedChaseProbe& probe) {
  refuse_bank_mode(probe.bank_mode);
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  kernels::SharedChaseLaunch launch = describe_chase(probe);
  const SharedPlan shared = plan_shared(session.info(), kernels::shared_chase_bytes(launch));
  PlacedLaunch placed(session, rank_sms(probe.sms).sms, limit_for(4 * probe.accesses));
  const std::vector<int>& sms = placed.sms();
  const auto results = session.outputs.add<kernels::LaneResult>(sms.size());
  const auto records = session.outputs.add<std::uint16_t>(sms.size() * launch.accesses);
  session.inputs.commit();
  session.outputs.commit();
  launch.placement = placed.placement();
  launch.results = session.outputs.device(results);
  launch.records = session.outputs.device(records);
  placed.run(
      {0, launch.threads, shared.dynamic_bytes, shared.carveout_percent},
      [&] { session.outputs.fill_device(results, 0, session.stream()); },
      [&](const kernels::LaunchShape& shape) {
        return kernels::launch_shared_chase(launch, probe.element_bytes, shape, session.stream());
      });
  Trace trace;
  trace.shared_carveout_bytes = shared.carveout_bytes;
  for (std::size_t rank = 0; rank < sms.size(); ++rank) {
    const kernels::LaneResult& result = session.outputs.host(results)[rank];
    check_lane(result, sms[rank]);
    if (result.final_value != 0) {
      throw DeviceError(
          fmt::format("wrong data: a word of shared memory changed on SM {} (its times "
                      "mean nothing)",
                      sms[rank]));
    }
    LaneTrace lane;
    lane.sm = sms[rank];
    const auto row = session.outputs.host(records).subspan(rank * launch.accesses, launch.accesses);
    lane.window_cycles.assign(row.begin(), row.end());
    lane.elapsed_cycles = result.elapsed_cycles;
    lane.accesses = launch.accesses;
    trace.lanes.push_back(std::move(lane));
  }
  return trace;
}

Trace play_shared_stream(Session& session, const SharedStreamProbe& probe) {
  refuse_bank_mode(probe.bank_mode);
  const DeviceInfo& info = session.info();
  const std::uint64_t share_bytes = shared_share_bytes(info, probe.blocks_per_sm);
  check_shared_stream(info, probe, share_bytes);
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  const auto spans = session.outputs.add<kernels::SmSpan>(kernels::max_sms);
  const auto blocks = session.outputs.add<std::uint32_t>(kernels::max_sms);
  const auto flags = session.outputs.add<std::uint32_t>(2);
  session.outputs.commit();
  // A pass of 1024 threads with 16 elements takes some 2 us.
  const TimeLimit limit{std::chrono::milliseconds(500) +
                        std::chrono::microseconds(50) * probe.passes};
  kernels::SharedStreamLaunch launch;
  launch.spans = session.outputs.device(spans);
  launch.blocks_on_sm = session.outputs.device(blocks);
  launch.arrived = session.outputs.device(flags);
  launch.timed_out = session.outputs.device(flags) + 1;
  launch.passes = static_cast<std::uint32_t>(probe.passes);
  launch.limit_ns = static_cast<std::uint64_t>(limit.kernel.count());
  const cudaStream_t stream = session.stream();
  session.outputs.fill_device(blocks, 0, stream);
  session.outputs.fill_device(flags, 0, stream);
  session.outputs.fill_device(spans, 0, stream);
  SONDE_CUDA_CHECK(cudaMemset2DAsync(launch.spans, sizeof(kernels::SmSpan), 0xff,
                                     sizeof(kernels::SmSpan::first_cycles), spans.count, stream));
  const auto grid = static_cast<unsigned>(info.sm_count * probe.blocks_per_sm);
  SONDE_CUDA_CHECK(kernels::launch_shared_stream(
      launch, probe.element_bytes, probe.ilp,
      {grid, static_cast<unsigned>(probe.block_threads), static_cast<unsigned>(share_bytes), 100},
      stream));
  session.outputs.download(stream);
  session.wait(limit.host());
  if (session.outputs.host(flags)[1] != 0) {
    throw DeviceError(
        "a shared stream passed its deadline, or its blocks were not all resident at "
        "once (its times mean nothing). Look for other processes on the GPU");
  }
  Trace trace;
  trace.shared_carveout_bytes =
      info.shared_carveouts_bytes.empty() ? 0 : info.shared_carveouts_bytes.back();
  for (int sm = 0; sm < info.sm_count; ++sm) {
    const auto at = static_cast<std::size_t>(sm);
    if (session.outputs.host(blocks)[at] != static_cast<std::uint32_t>(probe.blocks_per_sm)) {
      throw DeviceError(
          fmt::format("SM {} got {} blocks instead of {} (its share of the work is "
                      "wrong). Look for other processes on the GPU",
                      sm, session.outputs.host(blocks)[at], probe.blocks_per_sm));
    }
    const kernels::SmSpan& span = session.outputs.host(spans)[at];
    LaneTrace lane;
    lane.sm = sm;
    lane.elapsed_cycles = span.last_cycles - span.first_cycles;
    lane.accesses = static_cast<std::uint64_t>(probe.block_threads) *
                    static_cast<std::uint64_t>(probe.blocks_per_sm) *
                    static_cast<std::uint64_t>(probe.ilp) *
                    static_cast<std::uint64_t>(probe.passes);
    trace.lanes.push_back(std::move(lane));
  }
  return trace;
}

}  // namespace sonde::cuda
