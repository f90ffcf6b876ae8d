// Lays out the lanes of a chase: which warp plays which lane, where its script and histogram lie.
#include "device/cuda/chase_launch.hpp"

#include "base/gpu_facts.hpp"
#include "device/device.hpp"
#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::cuda {
namespace {

static_assert(kernels::chase_bins == histogram_bins);
static_assert(kernels::sink_bytes == record_overhead_bytes);
static_assert(kernels::max_lanes_per_sm == most_lanes_per_sm);

TimeLimit limit_of(const ChaseProbe& probe) {
  const std::uint64_t accesses =
      probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
  const bool in_turn = probe.concurrency == Concurrency::in_turn;
  return limit_for(accesses * (in_turn ? probe.lanes.size() : 1));
}

Lanes lanes_of(const ChaseProbe& probe) {
  Lanes lanes{.sms = {}, .recorded = probe.recorded_accesses, .accesses = probe.timed_accesses};
  if (probe.timed_accesses == 0) lanes.accesses = probe.amortised_accesses;
  for (const ChaseLane& lane : probe.lanes) lanes.sms.push_back(lane.sm);
  return lanes;
}

/// Lanes on the SM that has most of them.
std::uint32_t most_lanes_on_sm(const std::vector<int>& ranks) {
  std::vector<std::uint32_t> count(ranks.size(), 0);
  for (int rank : ranks) ++count[static_cast<std::size_t>(rank)];
  return *std::ranges::max_element(count);
}

}  // namespace

ChaseLaunchPlan::ChaseLaunchPlan(Session& session, const ChaseProbe& probe,
                                 std::uint32_t script_capacity)
    : session_(session), lanes_(session, lanes_of(probe), limit_of(probe)) {
  const RankedSms ranked = rank_sms(lanes_of(probe).sms);
  launch_.warps = most_lanes_on_sm(ranked.ranks);
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
  launch_.script_capacity = script_capacity;
  describe_launch(probe);
  shared_ = layout::plan_shared(session.info(), kernels::chase_shared_bytes(launch_),
                                probe.shared_carveout_bytes);
  fill_tasks(ranked.ranks);
}

void ChaseLaunchPlan::describe_launch(const ChaseProbe& probe) {
  LaunchArrays& arrays = session_.arrays();
  lanes_.describe(launch_);
  launch_.lane_of_warp = arrays.device(lane_of_warp_);
  launch_.tasks = arrays.device(tasks_);
  launch_.histograms = histograms_.count > 0 ? arrays.device(histograms_) : nullptr;
  launch_.warmup = probe.warmup_accesses;
  launch_.timed = probe.timed_accesses;
  launch_.recorded = probe.recorded_accesses;
  launch_.amortised = probe.amortised_accesses;
  launch_.lanes = static_cast<std::uint32_t>(probe.lanes.size());
  launch_.in_turn = probe.concurrency == Concurrency::in_turn;
}

void ChaseLaunchPlan::fill_tasks(const std::vector<int>& rank_of_lane) {
  const auto table = session_.arrays().host(lane_of_warp_);
  std::ranges::fill(table, -1);
  for (std::size_t lane = 0; lane < rank_of_lane.size(); ++lane) {
    std::size_t at = static_cast<std::size_t>(rank_of_lane[lane]) * launch_.warps;
    while (table[at] >= 0) ++at;
    table[at] = static_cast<std::int32_t>(lane);
    tasks()[lane] = {};
    tasks()[lane].turn = static_cast<std::uint32_t>(lane);
  }
}

Trace ChaseLaunchPlan::run(const std::function<void(const kernels::LaunchShape&)>& queue) {
  Trace trace = lanes_.run(launch_.warps * warp_threads, shared_, queue);
  if (histograms_.count == 0) return trace;
  const auto histograms = session_.arrays().host(histograms_);
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    trace.lanes[lane].histogram = to_histogram(
        std::span<const std::uint32_t>(histograms.subspan(lane * histogram_bins, histogram_bins)));
  }
  return trace;
}

ScriptArrays::ScriptArrays(Session& session, const std::vector<ChaseLane>& lanes)
    : session_(session), plan_(layout::plan_scripts(lanes)) {
  for (const auto& script : plan_.scripts) {
    scripts_.push_back(session.arrays().add_input<std::uint32_t>(script.size()));
  }
}

std::uint32_t ScriptArrays::capacity() const {
  std::size_t longest = 0;
  for (const auto& script : plan_.scripts) longest = std::max(longest, script.size());
  return static_cast<std::uint32_t>(longest);
}

void ScriptArrays::fill(std::span<kernels::ChaseTask> tasks) const {
  for (std::size_t lane = 0; lane < scripts_.size(); ++lane) {
    std::ranges::copy(plan_.scripts[lane], session_.arrays().host(scripts_[lane]).begin());
    tasks[lane].script = session_.arrays().device(scripts_[lane]);
    tasks[lane].script_length = static_cast<std::uint32_t>(scripts_[lane].count);
  }
}

}  // namespace sonde::cuda
