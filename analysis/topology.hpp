// Which SMs belong together: TPCs and GPCs from the clusters that the hardware formed, and from the
// clocks that SMs share. Input of jobs/topology.cpp.
#pragma once

#include "trace/trace.hpp"

#include <span>
#include <vector>

namespace sonde {

/// SMs that one thread block cluster ran on.
using Cluster = std::vector<int>;

/// The clusters of a ClusterProbe's trace. A cluster has at most `cluster_blocks` lanes, so lanes
/// of one number beyond that are a cluster of a later launch.
std::vector<Cluster> collect_clusters(const std::vector<LaneTrace>& lanes, int cluster_blocks);

/// Group of each SM (index: SM), numbered by lowest SM; -1: the SM was never seen, or only alone.
struct SmGroups {
  std::vector<int> group_of_sm;
  std::vector<int> sizes;  // by group
};

/// SMs of each group, ascending.
std::vector<std::vector<int>> sms_by_group(const SmGroups& groups);

/// GPCs: blocks of a cluster lie in one GPC (CUDA programming guide, thread block clusters), so all
/// SMs linked by clusters do.
SmGroups join_clusters(std::span<const Cluster> clusters, int sm_count);

/// TPCs: SMs that were each other's only partner in every cluster of two. SMs with several partners
/// get no group; the hardware then does not place pairs by TPC.
SmGroups pair_partners(std::span<const Cluster> pairs, int sm_count);

/// Group numbers to groups, without groups of one SM if `singles` says so.
enum class Singles { keep, drop };
SmGroups make_groups(const std::vector<int>& group_of_sm, Singles singles);

}  // namespace sonde
