// Thread block clusters and shared clocks into groups of SMs, as findings of the job placement.
// Method: docs/methods/placement.md.
#include "jobs/cores/topology.hpp"

#include "analysis/structure/cores/clock.hpp"
#include "analysis/topology.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int pair_launches = 24;  // a partner by chance does not come back this often
constexpr int launches = 8;        // of each larger cluster size

struct ClusterEvidence {
  std::vector<Cluster> pairs;  // clusters of two blocks
  std::vector<Cluster> all;
};

/// Clusters of every size that the device runs. A size that it refuses is left out: large ones may
/// not fit into any of its GPCs.
ClusterEvidence gather_clusters(JobRun& run) {
  ClusterEvidence evidence;
  for (int blocks = 2; blocks <= run.info().max_cluster_blocks; ++blocks) {
    const ClusterProbe probe{blocks, blocks == 2 ? pair_launches : launches};
    const Attempt result = attempt(run, fmt::format("clusters of {}", blocks), probe);
    if (result.trace == nullptr) continue;
    const auto clusters = collect_clusters(result.trace->lanes, blocks);
    if (blocks == 2) evidence.pairs = clusters;
    evidence.all.insert(evidence.all.end(), clusters.begin(), clusters.end());
  }
  return evidence;
}

void report_groups(JobRun& run, const std::string& table, const std::string& count,
                   const SmGroups& groups) {
  const int sm_count = run.info().sm_count;
  const int seen = std::accumulate(groups.sizes.begin(), groups.sizes.end(), 0);
  std::string remark;
  if (seen < sm_count) {
    remark = fmt::format("{} of {} SMs never joined a group", sm_count - seen, sm_count);
  }
  const auto report = [&](const std::string& metric, Value value) {
    run.report(found(metric, std::move(value), static_cast<double>(seen) / sm_count,
                     static_cast<std::uint64_t>(seen)),
               remark);
  };
  report(table, std::vector<double>(groups.group_of_sm.begin(), groups.group_of_sm.end()));
  report(count, static_cast<double>(groups.sizes.size()));
}

/// Groups of SMs that share a clock register, if those are what `scope` says.
std::optional<SmGroups> clock_groups(const JobRun& run, std::string_view scope) {
  const auto groups = run.vector("clock.group_of_sm");
  if (!groups) return std::nullopt;
  const std::vector<int> numbers(groups->begin(), groups->end());
  if (name_clock_scope(numbers) != scope) return std::nullopt;
  return make_groups(numbers, Singles::keep);
}

void report_tpcs(JobRun& run, const ClusterEvidence& evidence) {
  SmGroups tpcs = pair_partners(evidence.pairs, run.info().sm_count);
  const auto clocks = clock_groups(run, "tpc");
  if (clocks && tpcs.sizes.empty()) tpcs = *clocks;
  if (!tpcs.sizes.empty()) {
    report_groups(run, "placement.tpc_of_sm", "topology.tpc_count", tpcs);
    return;
  }
  const std::string reason =
      evidence.pairs.empty()
          ? "the GPU has no thread block clusters, and its clocks are not shared by TPCs"
          : "SMs change partners in clusters of two, and clocks are not shared by TPCs";
  run.report_rest("placement.tpc_", Status::not_resolvable, reason);
  run.report_rest("topology.tpc_", Status::not_resolvable, reason);
}

void report_gpcs(JobRun& run, const ClusterEvidence& evidence) {
  SmGroups gpcs = join_clusters(evidence.all, run.info().sm_count);
  const auto clocks = clock_groups(run, "gpc");
  // A GPC's last SMs may never share a large cluster with the rest of it; they share its clock.
  if (clocks && refines(gpcs, *clocks)) gpcs = *clocks;
  if (gpcs.sizes.empty()) {
    const std::string reason =
        "the GPU has no thread block clusters, and its clocks are not shared by GPCs";
    run.report_rest("placement.gpc_", Status::not_resolvable, reason);
    run.report_rest("topology.gpc_", Status::not_resolvable, reason);
    return;
  }
  report_groups(run, "placement.gpc_of_sm", "topology.gpc_count", gpcs);
  std::vector<double> sizes(gpcs.sizes.begin(), gpcs.sizes.end());
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  run.report(found("topology.gpc_sizes", std::move(sizes), 1, gpcs.sizes.size()));
}

}  // namespace

void report_topology(JobRun& run) {
  const ClusterEvidence evidence = gather_clusters(run);
  run.report(found("topology.sm_count", static_cast<double>(run.info().sm_count), 1, 1));
  report_tpcs(run, evidence);
  report_gpcs(run, evidence);
}

}  // namespace sonde
