// Makes sure that every wanted SM holds one block of a launch before any lane measures.
#include "device/cuda/lanes/placed_launch.hpp"

#include "base/error.hpp"
#include "device/device_error.hpp"

#include <algorithm>
#include <numeric>

namespace sonde::cuda {
namespace {

/// Blocks are placed within microseconds; a block that waits longer is not placed at all.
constexpr auto claim_limit = std::chrono::milliseconds(100);
constexpr unsigned max_blocks_per_sm = 32;  // CUDA programming guide, compute capabilities

unsigned most_resident_blocks(const DeviceInfo& info, const LaunchShape& shape) {
  const auto by_threads = static_cast<std::uint64_t>(info.max_threads_per_sm) / shape.block_threads;
  const std::uint64_t by_shared =
      info.shared_bytes_per_sm / (shape.shared_bytes + info.reserved_shared_bytes_per_block);
  const std::uint64_t per_sm =
      std::clamp<std::uint64_t>(std::min(by_threads, by_shared), 1, max_blocks_per_sm);
  return static_cast<unsigned>(per_sm) * static_cast<unsigned>(info.sm_count);
}

TimeLimit longest_limit(std::span<const PlacedKernel> kernels) {
  TimeLimit longest = kernels.front().launch->limit();
  for (const PlacedKernel& kernel : kernels) {
    longest.kernel = std::max(longest.kernel, kernel.launch->limit().kernel);
  }
  return longest;
}

/// The first launch that lacks an SM; null if none does.
const PlacedLaunch* find_unplaced(std::span<const PlacedKernel> kernels) {
  const auto lacks = [](const PlacedKernel& kernel) {
    return kernel.launch->claimed() != kernel.launch->wanted();
  };
  const auto found = std::ranges::find_if(kernels, lacks);
  return found == kernels.end() ? nullptr : found->launch;
}

}  // namespace

TimeLimit limit_for(std::uint64_t accesses) {
  // 4 us an access: some three times a load that misses every cache and every level of the TLB.
  return {std::chrono::seconds(1) + std::chrono::microseconds(4) * accesses};
}

PlacedLaunch::PlacedLaunch(Session& session, std::vector<int> sms, TimeLimit limit)
    : session_(session), sms_(std::move(sms)), limit_(limit) {
  require(session.info().sm_count <= kernels::max_sms, "more SMs than kernels::max_sms");
  ranks_ = session_.arrays().add_input<std::int32_t>(kernels::max_sms);
  state_ = session_.arrays().add_output<kernels::PlacementState>(1);
  std::ranges::fill(ranks_.host, -1);
  for (std::size_t rank = 0; rank < sms_.size(); ++rank) {
    ranks_.host[static_cast<std::size_t>(sms_[rank])] = static_cast<std::int32_t>(rank);
  }
}

kernels::Placement PlacedLaunch::placement() const {
  kernels::Placement placement;
  placement.rank_of_sm = ranks_.device;
  placement.state = state_.device;
  placement.arrived = &placement.state->arrived;
  placement.wanted = wanted();
  placement.claim_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(claim_limit).count());
  placement.limit_ns = limit_.kernel_ns();
  return placement;
}

void PlacedLaunch::run(LaunchShape shape, const std::function<void(const LaunchShape&)>& queue) {
  PlacedKernel kernel{this, shape};
  run_placed(session_, {&kernel, 1}, [&] { queue(kernel.shape); });
}

void run_placed(Session& session, std::span<PlacedKernel> kernels,
                const std::function<void()>& queue) {
  const DeviceInfo& info = session.info();
  const auto sms = static_cast<std::size_t>(info.sm_count);
  const auto run_once = [&] {
    session.run(longest_limit(kernels), [&] {
      for (const PlacedKernel& kernel : kernels) kernel.launch->clear_state();
      queue();
    });
    return find_unplaced(kernels);
  };
  // First with as many blocks per SM as there are kernels: they fit if the carve-out is as asked.
  // If the driver divided the L1 in another way, with as many blocks as can be resident, so that
  // each SM gets one.
  for (PlacedKernel& kernel : kernels) {
    kernel.shape.grid_blocks = static_cast<unsigned>(kernels.size() * sms);
  }
  const PlacedLaunch* unplaced = run_once();
  if (unplaced == nullptr) return;
  bool more = false;
  for (PlacedKernel& kernel : kernels) {
    const unsigned most = most_resident_blocks(info, kernel.shape);
    more = more || kernel.shape.grid_blocks != most;
    kernel.shape.grid_blocks = most;
  }
  if (more) unplaced = run_once();
  if (unplaced == nullptr) return;
  throw_device_error(
      "only {} of {} SMs got a block (the probe must run on all of them). Look for other processes "
      "on the GPU, or for disabled SMs",
      unplaced->claimed(), unplaced->wanted());
}

RankedSms rank_sms(const std::vector<int>& sms) {
  RankedSms ranked;
  std::vector<int> rank_of_sm(kernels::max_sms, -1);
  for (int sm : sms) {
    int& rank = rank_of_sm.at(static_cast<std::size_t>(sm));
    if (rank < 0) {
      rank = static_cast<int>(ranked.sms.size());
      ranked.sms.push_back(sm);
    }
    ranked.ranks.push_back(rank);
  }
  return ranked;
}

std::vector<int> all_sms(const DeviceInfo& info) {
  std::vector<int> sms(static_cast<std::size_t>(info.sm_count));
  std::iota(sms.begin(), sms.end(), 0);
  return sms;
}

}  // namespace sonde::cuda
