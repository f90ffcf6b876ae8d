// Groups of SMs: TPCs and GPCs from the clusters that the hardware formed. For jobs/topology.cpp.
#pragma once

#include "trace/trace.hpp"

#include <vector>

namespace sonde {

/// SMs on which one thread block cluster ran.
using Cluster = std::vector<int>;

/// The clusters of a ClusterProbe. A cluster has at most `cluster_blocks` lanes; further lanes of
/// the same number belong to a cluster of a later launch.
std::vector<Cluster> collect_clusters(const std::vector<LaneTrace>& lanes, int cluster_blocks);

/// Group of each SM, numbered by lowest SM; -1: the SM was never seen, or only alone.
struct SmGroups {
  std::vector<int> group_of_sm;
  std::vector<int> sizes;  // SMs of each group
};

/// SMs of each group, ascending.
std::vector<std::vector<int>> sms_by_group(const SmGroups& groups);

/// Renumbers groups from 0; can drop groups of one SM.
enum class Singles { keep, drop };
SmGroups make_groups(const std::vector<int>& group_of_sm, Singles singles);

}  // namespace sonde
