// See chase_launch.hpp.
#include "device/cuda/chase_launch.hpp"

#include "base/error.hpp"
#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

static_assert(kernels::chase_bins == histogram_bins);
static_assert(kernels::sink_bytes == record_overhead_bytes);

Session& with_clear_layout(Session& session) {
  session.inputs.clear_layout();
  session.outputs.clear_layout();
  return session;
}

TimeLimit limit_of(const LaneWork& work) {
  const std::uint64_t accesses = work.warmup + work.timed + work.amortised;
  const bool in_turn = work.concurrency == Concurrency::in_turn;
  return limit_for(accesses * (in_turn ? work.lane_sms.size() : 1));
}

/// Lanes on the SM that has most of them.
std::uint32_t most_lanes_on_sm(const std::vector<int>& ranks) {
  std::vector<std::uint32_t> count(ranks.size(), 0);
  for (int rank : ranks) ++count[static_cast<std::size_t>(rank)];
  return *std::max_element(count.begin(), count.end());
}

}  // namespace

LaneWork work_of(const ChaseProbe& probe) {
  LaneWork work;
  for (const ChaseLane& lane : probe.lanes) work.lane_sms.push_back(lane.sm);
  work.warmup = probe.warmup_accesses;
  work.timed = probe.timed_accesses;
  work.recorded = probe.recorded_accesses;
  work.amortised = probe.amortised_accesses;
  work.concurrency = probe.concurrency;
  work.shared_carveout_bytes = probe.shared_carveout_bytes;
  return work;
}

ChaseLaunchPlan::ChaseLaunchPlan(Session& session, const LaneWork& work)
    : session_(with_clear_layout(session)),
      work_(work),
      ranked_(rank_sms(work.lane_sms)),
      placed_(session, ranked_.sms, limit_of(work)) {
  const std::uint64_t lanes = work.lane_sms.size();
  launch_.warps = most_lanes_on_sm(ranked_.ranks);
  if (launch_.warps > kernels::max_lanes_per_sm) {
    throw DeviceError(
        fmt::format("{} lanes share one SM (at most {} can, each with its own warp). "
                    "Ask for fewer",
                    launch_.warps, kernels::max_lanes_per_sm));
  }
  lane_of_warp_ = session_.inputs.add<std::int32_t>(ranked_.sms.size() * launch_.warps);
  tasks_ = session_.inputs.add<kernels::ChaseTask>(lanes);
  results_ = session_.outputs.add<kernels::LaneResult>(lanes);
  records_ = session_.outputs.add<std::uint16_t>(lanes * work.recorded);
  const bool counting = work.timed > work.recorded;
  histograms_ = session_.outputs.add<std::uint32_t>(counting ? lanes * histogram_bins : 0);
}

void ChaseLaunchPlan::commit() {
  session_.inputs.commit();
  session_.outputs.commit();
  launch_.placement = placed_.placement();
  launch_.lane_of_warp = session_.inputs.device(lane_of_warp_);
  launch_.tasks = session_.inputs.device(tasks_);
  launch_.results = session_.outputs.device(results_);
  launch_.records = session_.outputs.device(records_);
  launch_.histograms = histograms_.count > 0 ? session_.outputs.device(histograms_) : nullptr;
  launch_.warmup = work_.warmup;
  launch_.timed = work_.timed;
  launch_.recorded = work_.recorded;
  launch_.amortised = work_.amortised;
  launch_.lanes = static_cast<std::uint32_t>(work_.lane_sms.size());
  launch_.script_capacity = work_.script_capacity;
  launch_.in_turn = work_.concurrency == Concurrency::in_turn;
  shared_ = plan_shared(session_.info(), kernels::chase_shared_bytes(launch_),
                        work_.shared_carveout_bytes);
  const auto table = session_.inputs.host(lane_of_warp_);
  std::fill(table.begin(), table.end(), -1);
  for (std::size_t lane = 0; lane < ranked_.ranks.size(); ++lane) {
    std::size_t at = static_cast<std::size_t>(ranked_.ranks[lane]) * launch_.warps;
    while (table[at] >= 0) ++at;
    table[at] = static_cast<std::int32_t>(lane);
    tasks()[lane] = {};
    tasks()[lane].turn = static_cast<std::uint32_t>(lane);
  }
}

void ChaseLaunchPlan::run(const std::function<void()>& before, const Launcher& launcher) {
  kernels::LaunchShape shape;
  shape.block_threads = launch_.warps * 32;
  shape.shared_bytes = shared_.dynamic_bytes;
  shape.carveout_percent = shared_.carveout_percent;
  const auto clear_and_prepare = [&] {
    session_.outputs.fill_device(results_, 0, session_.stream());
    before();
  };
  placed_.run(shape, clear_and_prepare,
              [&](const kernels::LaunchShape& placed) { return launcher(launch_, placed); });
  for (std::size_t lane = 0; lane < work_.lane_sms.size(); ++lane) {
    check_lane(results()[lane], work_.lane_sms[lane]);
  }
}

std::span<const kernels::LaneResult> ChaseLaunchPlan::results() const {
  return session_.outputs.host(results_);
}

Trace ChaseLaunchPlan::trace() const {
  Trace trace;
  trace.shared_carveout_bytes = shared_.carveout_bytes;
  const auto records = session_.outputs.host(records_);
  const auto histograms = session_.outputs.host(histograms_);
  for (std::size_t lane = 0; lane < work_.lane_sms.size(); ++lane) {
    LaneTrace out;
    out.sm = work_.lane_sms[lane];
    const auto row = records.subspan(lane * work_.recorded, work_.recorded);
    out.window_cycles.assign(row.begin(), row.end());
    if (!histograms.empty()) {
      const auto bins = histograms.subspan(lane * histogram_bins, histogram_bins);
      out.histogram.assign(bins.begin(), bins.end());
    }
    out.elapsed_cycles = results()[lane].elapsed_cycles;
    out.accesses = work_.timed > 0 ? work_.timed : work_.amortised;
    trace.lanes.push_back(std::move(out));
  }
  return trace;
}

std::uint32_t longest_script(const ScriptPlan& scripts) {
  std::size_t length = 0;
  for (const auto& script : scripts.scripts) length = std::max(length, script.size());
  return static_cast<std::uint32_t>(length);
}

std::vector<Slot<std::uint32_t>> add_scripts(Session& session, const ScriptPlan& scripts) {
  std::vector<Slot<std::uint32_t>> slots;
  for (const auto& script : scripts.scripts) {
    slots.push_back(session.inputs.add<std::uint32_t>(script.size()));
  }
  return slots;
}

void fill_scripts(Session& session, const ScriptPlan& scripts,
                  const std::vector<Slot<std::uint32_t>>& slots,
                  std::span<kernels::ChaseTask> tasks) {
  for (std::size_t lane = 0; lane < slots.size(); ++lane) {
    std::ranges::copy(scripts.scripts[lane], session.inputs.host(slots[lane]).begin());
    tasks[lane].script = session.inputs.device(slots[lane]);
    tasks[lane].script_length = static_cast<std::uint32_t>(slots[lane].count);
  }
}

}  // namespace sonde::cuda
