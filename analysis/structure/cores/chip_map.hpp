// From what several methods say of the groups of SMs to one map with a confidence. Input of
// jobs/topology.cpp.
#pragma once

#include "analysis/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Groups that one method found; none if it found none. SMs of which it knows nothing have -1.
struct MapEvidence {
  std::string source;  // "clusters", ...
  SmGroups groups;
  double confidence = 0;  // in it alone
};

/// A map, and which methods stand for it.
struct MapVerdict {
  SmGroups groups;              // empty: nobody found any
  double alone_confidence = 0;  // of the first method alone
  std::vector<std::string> agree;
  std::vector<std::string> contradict;

  /// Methods that agree make a map certain, one that contradicts makes it doubtful, less so if more
  /// agree; SMs without a group lower the confidence by their share.
  double confidence(int sm_count) const;
  /// Who says so, who contradicts, how many SMs have no group.
  std::string remark(int sm_count) const;
};

/// Whether SMs that share a group of `a` share one of `b`, among those that both know.
bool maps_into(const SmGroups& a, const SmGroups& b);

/// Whether two maps put the same SMs together, among those that both know.
bool same_groups(const SmGroups& a, const SmGroups& b);

/// The map of the first method that has one, and what the others say of it.
MapVerdict combine_maps(std::span<const MapEvidence> evidence);

/// GPCs that clusters tell of. SMs that only ever shared a cluster within one TPC lie in some GPC,
/// but not in one of their own: they get no group. Nor does any SM if one of two drawn halves of
/// the clusters says something else than all of them: then there were too few.
/// @param tpcs may be empty: then groups of at most three SMs may be a TPC
SmGroups gpcs_of_clusters(std::span<const Cluster> clusters, const SmGroups& tpcs, int sm_count);

/// TPCs that clusters of two tell of: SMs that were each other's only partner. None if SMs change
/// partners, if some had none, or if each pair is all of its GPC: the hardware then need not have
/// paired by TPC.
/// @param all clusters of every size
SmGroups tpcs_of_clusters(std::span<const Cluster> pairs, std::span<const Cluster> all,
                          int sm_count);

/// Whether a unit behind the first `members` that streamed at once is held up at least half as much
/// as those. What all units share, short of being overloaded, holds others up a little: on an H200
/// streams of a GPC take 1.3 to 1.5 times as long, and those of other GPCs meanwhile 1.0 to 1.16
/// times.
/// @param slowdowns time of each unit over that of the same stream alone
bool holds_up_others(std::span<const double> slowdowns, std::size_t members);

}  // namespace sonde
