// Lays out the lanes of a chase: which warp plays which lane, where its script and histogram lie.
#include "device/cuda/lanes/chase_launch.hpp"

#include "base/gpu_facts.hpp"
#include "device/device.hpp"
#include "device/device_error.hpp"
#include "device/layout/chase_shared.hpp"
#include "device/layout/place.hpp"

#include <algorithm>
#include <utility>

namespace sonde::cuda {
namespace {

static_assert(kernels::chase_bins == histogram_bins);
static_assert(kernels::sink_bytes == record_overhead_bytes);
static_assert(kernels::max_lanes_per_sm == most_lanes_per_sm);

Lanes lanes_of(const ChaseProbe& probe) {
  Lanes lanes{.sms = {}, .recorded = probe.recorded_accesses, .accesses = probe.timed_accesses};
  if (probe.timed_accesses == 0) lanes.accesses = probe.amortised_accesses;
  for (const ChaseLane& lane : probe.lanes) lanes.sms.push_back(lane.sm);
  return lanes;
}

std::uint32_t most_lanes_on_sm(const std::vector<int>& ranks) {
  std::vector<std::uint32_t> count(ranks.size(), 0);
  for (int rank : ranks) ++count[static_cast<std::size_t>(rank)];
  return *std::ranges::max_element(count);
}

}  // namespace

TimeLimit limit_of(const ChaseProbe& probe) {
  const bool in_turn = probe.concurrency == Concurrency::in_turn;
  return limit_for(accesses_of(probe) * (in_turn ? probe.lanes.size() : 1));
}

ChaseLaunchPlan::ChaseLaunchPlan(Session& session, const ChaseProbe& probe)
    : session_(session),
      lanes_(session, lanes_of(probe), limit_of(probe)),
      asked_carveout_bytes_(probe.shared_carveout_bytes),
      shared_bytes_(layout::chase_shared_bytes(probe, false)) {
  RankedSms ranked = rank_sms(lanes_of(probe).sms);
  rank_of_lane_ = std::move(ranked.ranks);
  launch_.warps = most_lanes_on_sm(rank_of_lane_);
  if (launch_.warps > kernels::max_lanes_per_sm) {
    throw_device_error(
        "{} lanes share one SM (at most {} can, each with its own warp). Ask for fewer",
        launch_.warps, kernels::max_lanes_per_sm);
  }
  const std::uint64_t lanes = probe.lanes.size();
  lane_of_warp_ = session.arrays().add_input<std::int32_t>(ranked.sms.size() * launch_.warps);
  tasks_ = session.arrays().add_input<kernels::ChaseTask>(lanes);
  const bool counting = probe.timed_accesses > probe.recorded_accesses;
  histograms_ = session.arrays().add_output<std::uint32_t>(counting ? lanes * histogram_bins : 0);
  launch_.warmup = probe.warmup_accesses;
  launch_.timed = probe.timed_accesses;
  launch_.recorded = probe.recorded_accesses;
  launch_.amortised = probe.amortised_accesses;
  launch_.lanes = static_cast<std::uint32_t>(lanes);
  launch_.in_turn = probe.concurrency == Concurrency::in_turn;
  lanes_.describe(launch_);
  launch_.lane_of_warp = lane_of_warp_.device;
  launch_.tasks = tasks_.device;
  launch_.histograms = counting ? histograms_.device : nullptr;
  fill_lanes();
}

/// Each lane is played by the next warp of its SM.
void ChaseLaunchPlan::fill_lanes() {
  std::ranges::fill(lane_of_warp_.host, -1);
  for (std::size_t lane = 0; lane < rank_of_lane_.size(); ++lane) {
    std::size_t at = static_cast<std::size_t>(rank_of_lane_[lane]) * launch_.warps;
    while (lane_of_warp_.host[at] >= 0) ++at;
    lane_of_warp_.host[at] = static_cast<std::int32_t>(lane);
    tasks()[lane] = {.turn = static_cast<std::uint32_t>(lane)};
  }
}

Trace ChaseLaunchPlan::run(const std::function<void(const LaunchShape&)>& queue) {
  const auto queue_first = [&](std::span<const PlacedKernel> kernels) {
    queue(kernels.front().shape);
  };
  return std::move(run_together({this}, queue_first).front());
}

std::vector<Trace> ChaseLaunchPlan::run_together(
    const std::vector<ChaseLaunchPlan*>& plans,
    const std::function<void(std::span<const PlacedKernel>)>& queue) {
  const ChaseLaunchPlan& first = *plans.front();
  std::uint64_t needed_bytes = 0;
  std::size_t lanes = 0;
  for (const ChaseLaunchPlan* plan : plans) {
    needed_bytes = std::max(needed_bytes, plan->shared_bytes_);
    lanes += plan->rank_of_lane_.size();
  }
  // All kernels get one carve-out, or no SM could hold a block of each.
  const layout::SharedPlan shared = layout::plan_shared(first.session_.info(), needed_bytes,
                                                        first.asked_carveout_bytes_, plans.size());
  std::vector<PlacedKernel> kernels;
  for (ChaseLaunchPlan* plan : plans) {
    plan->launch_.lanes = static_cast<std::uint32_t>(lanes);
    plan->launch_.placement.arrived = first.launch_.placement.arrived;
    kernels.push_back(plan->lanes_.placed_kernel(plan->launch_.warps * warp_threads, shared));
  }
  run_placed(first.session_, kernels, [&] {
    for (ChaseLaunchPlan* plan : plans) plan->lanes_.clear_results();
    queue(kernels);
  });
  std::vector<Trace> traces;
  for (const ChaseLaunchPlan* plan : plans) traces.push_back(plan->read(shared));
  return traces;
}

Trace ChaseLaunchPlan::read(const layout::SharedPlan& shared) const {
  Trace trace = lanes_.read(shared);
  if (histograms_.host.empty()) return trace;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    trace.lanes[lane].histogram = to_histogram(std::span<const std::uint32_t>(
        histograms_.host.subspan(lane * histogram_bins, histogram_bins)));
  }
  return trace;
}

void ChaseLaunchPlan::add_scripts(const ChaseProbe& probe) {
  const layout::ScriptPlan plan = layout::plan_scripts(probe.lanes);
  shared_bytes_ = layout::chase_shared_bytes(probe, true);
  launch_.script_unit = layout::script_unit(probe.lanes.front().path, plan.unit_bytes);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    const std::vector<std::uint32_t>& script = plan.scripts[lane];
    const auto length = static_cast<std::uint32_t>(script.size());
    const auto array = session_.arrays().add_input<std::uint32_t>(length);
    std::ranges::copy(script, array.host.begin());
    tasks()[lane].script = array.device;
    tasks()[lane].script_length = length;
    launch_.script_capacity = std::max(launch_.script_capacity, length);
  }
}

}  // namespace sonde::cuda
