// Combines the groups of SMs that several methods found to one map. For jobs/topology.cpp.
#pragma once

#include "analysis/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Groups that one method found; empty if it found none. SMs of unknown group have -1.
struct MapEvidence {
  std::string source;  // "clusters", ...
  SmGroups groups;
  double confidence = 0;  // of this method alone
};

/// A map, and the methods that support it.
struct MapVerdict {
  SmGroups groups;              // empty: no method found any
  double alone_confidence = 0;  // confidence of the first method
  std::vector<std::string> agree;
  std::vector<std::string> contradict;

  /// 1 if several methods agree, else that of the first method; lower if a method contradicts, less
  /// so if more methods agree. SMs without a group lower it by their share.
  double confidence(int sm_count) const;
  /// Names the methods for and against the map, and the number of SMs without a group.
  std::string remark(int sm_count) const;
};

/// True if SMs that share a group of `a` also share a group of `b`, among SMs that both know.
bool maps_into(const SmGroups& a, const SmGroups& b);

/// True if both maps have the same groups, among the SMs that both know.
bool same_groups(const SmGroups& a, const SmGroups& b);

/// Takes the first map there is; other methods agree with it or contradict it.
MapVerdict combine_maps(std::span<const MapEvidence> evidence);

/// GPCs from clusters. SMs that shared clusters only within one TPC get no group: their GPC is
/// unknown. Empty if a random half of the clusters gives other groups than all: then the clusters
/// are too few.
/// @param tpcs may be empty: then a group of at most three SMs may be a TPC
SmGroups gpcs_of_clusters(std::span<const Cluster> clusters, const SmGroups& tpcs, int sm_count);

/// TPCs from clusters of two: SMs that were always each other's partner. Empty if SMs changed
/// partners, if some had none, or if every pair is a whole GPC: the hardware may then pair by
/// something else.
/// @param all clusters of every size
SmGroups tpcs_of_clusters(std::span<const Cluster> pairs, std::span<const Cluster> all,
                          int sm_count);

/// True if some unit after the first `members` slows down at least half as much as these, which
/// streamed at once. Shared units slow others down a little: on an H200 streams of one GPC take 1.3
/// to 1.5 times as long, those of other GPCs meanwhile 1.0 to 1.16 times.
/// @param slowdowns time of each unit, divided by the time of the same stream alone
bool holds_up_others(std::span<const double> slowdowns, std::size_t members);

}  // namespace sonde
