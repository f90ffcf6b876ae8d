// Who is charged, and on which ground: by the device itself (links.cpp, health.cpp) and by its
// peers, in what is measured (peers.cpp) and in what is counted (quorum.cpp). Its past:
// history.hpp, drift.hpp; reference values: references.hpp.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/grounds/series.hpp"

namespace sonde {

/// Charges on the ground of the device itself: from the health before and after measuring, from the
/// conditions of the probes, and from jobs that failed for a reason that says something of the GPU
/// (wrong data, hangs, sticky errors). On the ground of peers: a device with far more errors since
/// its driver was loaded than its group; a node with fewer GPUs than most nodes.
/// @param conditions of each device
std::vector<Charge> health_charges(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                                   const std::vector<DeviceConditions>& conditions);

/// GPUs on the node that shows most often, times nodes; 0 if nodes differ too much to say.
std::size_t usual_device_count(const RunResult& run);

/// The reason that says that the GPU is gone; "" if none does.
std::string gone_reason(const DeviceResult& device);

/// Charges from what the jobs `device` and `host` were told of links and errors: Xids
/// (xids.hpp), PCIe replays, NVLink errors, links that are down, narrow or slow, and copies that
/// are far slower than the link.
std::vector<Charge> link_charges(const RunResult& run);

/// Describes and judges one series (docs/fleet-analysis.md). Who is worse than the majority is
/// charged. Where no majority agrees, or somebody is clearly better than it, all devices of the
/// group are warned, and the parts into which it falls are named: nobody can tell which of them is
/// right. A note says that a metric scatters too much to be judged.
/// @returns its statistics, which `all` got
const MetricStatistics& compare_peers(const RunResult& run, const Series& series, Compared& all);

/// Statistics of every structural metric and capacity of every group, and charges by those that are
/// compared, appended. A device whose value differs from the majority's fails, if both sides are
/// sure. All devices are warned, and the values named, where there is no majority, where one of the
/// others has more (of what more is better of), or where half as many agree on another value.
void compare_structure(const RunResult& run, const std::vector<ComparisonGroup>& groups,
                       const ReduceOptions& options, Compared& all);

}  // namespace sonde
