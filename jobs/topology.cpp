// Job `topology`: which SMs form TPCs and GPCs, from thread block clusters, shared clocks, and the
// ports that SMs share. Method: docs/methods/topology.md.
#include "analysis/structure/cores/chip_map.hpp"
#include "jobs/cores/port_trials.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace sonde {
namespace {

constexpr int pair_launches = 24;  // a random partner does not come back this often
// Launches of all larger sizes together, and the fewest of one size. If few sizes exist, each needs
// many arrangements until all parts of a GPC have met.
constexpr int larger_launches = 160;
constexpr int least_launches = 8;

// Confidence of each method alone. A scheduler may pair SMs for another reason than their TPC;
// clocks of two groups may be set alike; ports are inferred from times.
constexpr double by_clusters = 0.9;
constexpr double by_clocks = 0.95;
constexpr double by_clocks_of_tpcs = 0.9;  // a GPC of so few SMs looks the same
constexpr double by_ports = 0.95;

struct ClusterEvidence {
  std::vector<Cluster> pairs;  // clusters of two blocks
  std::vector<Cluster> all;
};

/// Clusters of every size that the device allows. It may refuse sizes that fit into none of its
/// GPCs.
ClusterEvidence gather_clusters(JobRun& run) {
  ClusterEvidence evidence;
  const int most = run.info().max_cluster_blocks;
  const int launches = std::max(least_launches, larger_launches / std::max(1, most - 2));
  for (int blocks = 2; blocks <= most; ++blocks) {
    const ClusterProbe probe{blocks, blocks == 2 ? std::max(pair_launches, launches) : launches};
    refusal_of([&] {
      const Trace& trace = run.run(fmt::format("clusters of {}", blocks), probe);
      const auto clusters = collect_clusters(trace.lanes, blocks);
      if (blocks == 2) evidence.pairs = clusters;
      evidence.all.insert(evidence.all.end(), clusters.begin(), clusters.end());
    });
  }
  return evidence;
}

/// Groups of SMs that share a clock register, if the scope of the clock is `scope`.
MapEvidence clock_groups(const JobRun& run, std::string_view scope) {
  MapEvidence evidence{"clocks", {}, scope == "tpc" ? by_clocks_of_tpcs : by_clocks};
  const auto groups = run.vector("clock.group_of_sm");
  const Finding* named = run.answer("clock.scope");
  if (!groups || named == nullptr || named->value != Value(std::string(scope))) return evidence;
  evidence.groups = make_groups({groups->begin(), groups->end()}, Singles::keep);
  return evidence;
}

/// A map, or why there is none.
struct MapAnswer {
  MapVerdict map;
  std::string why_none;
};

/// SMs of each TPC; an SM without a TPC is a unit of its own.
std::vector<std::vector<int>> sms_of_units(const SmGroups& tpcs, int sm_count) {
  std::vector<std::vector<int>> sms = sms_by_group(tpcs);
  for (int sm = 0; sm < sm_count; ++sm) {
    const bool alone = tpcs.sizes.empty() || tpcs.group_of_sm[static_cast<std::size_t>(sm)] < 0;
    if (alone) sms.push_back({sm});
  }
  return sms;
}

/// Group of each unit: the group of its first SM.
std::vector<int> groups_of_units(const SmGroups& groups,
                                 const std::vector<std::vector<int>>& sms_of_unit) {
  std::vector<int> result;
  for (const std::vector<int>& sms : sms_of_unit) {
    result.push_back(groups.group_of_sm[static_cast<std::size_t>(sms.front())]);
  }
  return result;
}

/// Checks a map of other evidence by the ports.
/// @param units SMs or TPCs that the groups of the map consist of
void check_by_ports(JobRun& run, const std::vector<std::vector<int>>& units, MapVerdict& map) {
  const PortCheck check = check_ports(run, units, groups_of_units(map.groups, units));
  if (check.seen == 0) return;
  const std::string ports = fmt::format("{} of {} ports", check.seen, check.groups);
  if (check.contradicted > 0) {
    map.contradict.push_back(
        fmt::format("{}, {} of which also slow down other groups", ports, check.contradicted));
  } else {
    map.agree.push_back(ports);
  }
}

/// Pairs of consecutive SMs, as in TPCs since Volta. Returns them as the map of the ports if each
/// pair shares a port with no other SM; else an empty map.
MapVerdict find_pairs_by_ports(JobRun& run, const std::vector<std::vector<int>>& sms) {
  std::vector<int> pair_of_sm;
  for (const std::vector<int>& sm : sms) pair_of_sm.push_back(sm.front() / 2);
  const PortCheck check = check_ports(run, sms, pair_of_sm);
  if (check.seen < check.groups || check.contradicted > 0 || sms.size() % 2 != 0) return {};
  const MapEvidence ports[] = {{"ports", make_groups(pair_of_sm, Singles::keep), by_ports}};
  return combine_maps(ports);
}

MapAnswer find_tpcs(JobRun& run, const ClusterEvidence& clusters) {
  const int sm_count = run.info().sm_count;
  const MapEvidence evidence[] = {
      clock_groups(run, "tpc"),
      {"clusters", tpcs_of_clusters(clusters.pairs, clusters.all, sm_count), by_clusters}};
  MapVerdict map = combine_maps(evidence);
  const auto refusal = refusal_of([&] {
    const auto sms = sms_of_units({}, sm_count);
    if (map.groups.sizes.empty()) {
      map = find_pairs_by_ports(run, sms);
    } else {
      check_by_ports(run, sms, map);
    }
  });
  return {
      std::move(map),
      fmt::format("{}, its clocks are not shared by TPCs, and {}",
                  clusters.pairs.empty()
                      ? "the GPU has no thread block clusters"
                      : "clusters of two do not distinguish TPCs from other pairs of SMs",
                  refusal ? "its ports could not be measured: " + *refusal
                          : "pairs of consecutive SMs do not slow each other down when both read")};
}

MapAnswer find_gpcs(JobRun& run, const ClusterEvidence& clusters, const SmGroups& tpcs) {
  const int sm_count = run.info().sm_count;
  const MapEvidence evidence[] = {
      clock_groups(run, "gpc"),
      {"clusters", gpcs_of_clusters(clusters.all, tpcs, sm_count), by_clusters}};
  MapVerdict map = combine_maps(evidence);
  if (!map.groups.sizes.empty()) {
    refusal_of([&] { check_by_ports(run, sms_of_units(tpcs, sm_count), map); });
    if (!tpcs.sizes.empty() && !maps_into(tpcs, map.groups)) {
      map.contradict.push_back("TPCs that span several groups");
    }
  }
  return {std::move(map),
          fmt::format("{}, and its clocks are not shared by GPCs",
                      clusters.all.empty() ? "the GPU has no thread block clusters"
                                           : "its clusters do not reach beyond TPCs, or half of "
                                             "the launches gives other groups")};
}

void report_groups(JobRun& run, const std::string& unit, const MapAnswer& answer) {
  const int sm_count = run.info().sm_count;
  const std::string prefix = fmt::format("topology.{}_", unit);
  const SmGroups& groups = answer.map.groups;
  if (groups.sizes.empty()) {
    return run.leave_open(prefix, answer.why_none);
  }
  const auto report = [&](const char* metric, Value value) {
    run.report(found(prefix + metric, std::move(value), answer.map.confidence(sm_count),
                     static_cast<std::uint64_t>(sm_count)),
               answer.map.remark(sm_count));
  };
  report("of_sm", std::vector<double>(groups.group_of_sm.begin(), groups.group_of_sm.end()));
  if (const auto left = std::ranges::count(groups.group_of_sm, -1); left > 0) {
    return run.leave_open(
        prefix, fmt::format("{} of {} SMs are in none of the {} groups that were found ({})", left,
                            sm_count, groups.sizes.size(), answer.map.remark(sm_count)));
  }
  std::vector<double> sizes(groups.sizes.begin(), groups.sizes.end());
  std::ranges::sort(sizes, std::greater<>());
  report("count", static_cast<double>(sizes.size()));
  if (unit == "gpc") report("sizes", std::move(sizes));
}

}  // namespace

void run_topology(JobRun& run) {
  const ClusterEvidence clusters = gather_clusters(run);
  run.report("topology.sm_count", run.info().sm_count, 1);
  const MapAnswer tpcs = find_tpcs(run, clusters);
  report_groups(run, "tpc", tpcs);
  const MapAnswer gpcs = find_gpcs(run, clusters, tpcs.map.groups);
  report_groups(run, "gpc", gpcs);
}

}  // namespace sonde
