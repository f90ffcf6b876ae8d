// From what several methods say of the groups of SMs to one map with a confidence. Input of
// jobs/topology.cpp.
#pragma once

#include "analysis/topology.hpp"

#include <span>
#include <string>

namespace sonde {

/// Groups that one method found; none if it found none. SMs of which it knows nothing have -1.
struct MapEvidence {
  std::string source;  // "clusters", ...
  SmGroups groups;
  double confidence = 0;  // in it alone
};

struct MapVerdict {
  SmGroups groups;  // empty: nobody found any
  double confidence = 0;
  std::string remark;  // who says so, who contradicts, how many SMs have no group
};

/// Whether two maps put the same SMs together, among those that both know.
bool same_groups(const SmGroups& a, const SmGroups& b);

/// The map of the first method that has one. Others that agree make it certain, one that
/// contradicts makes it doubtful; SMs without a group lower the confidence by their share.
MapVerdict combine_maps(std::span<const MapEvidence> evidence, int sm_count);

/// GPCs that clusters tell of. SMs that only ever shared a cluster within one TPC lie in some GPC,
/// but not in one of their own: they get no group. Nor does any SM if the first half of the
/// launches says something else than all of them.
/// @param tpcs may be empty: then groups of at most three SMs may be a TPC
SmGroups gpcs_of_clusters(std::span<const Cluster> clusters, const SmGroups& tpcs, int sm_count);

/// TPCs that clusters of two tell of: SMs that were each other's only partner. None if SMs change
/// partners, if some had none, or if each pair is all of its GPC: the hardware then need not have
/// paired by TPC.
/// @param all clusters of every size
SmGroups tpcs_of_clusters(std::span<const Cluster> pairs, std::span<const Cluster> all,
                          int sm_count);

}  // namespace sonde
