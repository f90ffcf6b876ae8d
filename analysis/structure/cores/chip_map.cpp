// Maps of SMs: what clusters say, and how far several methods agree.
#include "analysis/structure/cores/chip_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace sonde {
namespace {

// The largest TPC that there has been (GT200: Wong 2010).
constexpr int most_sms_of_tpc = 3;
constexpr double when_contradicted = 0.4;

int known_sms(const SmGroups& groups) {
  return std::accumulate(groups.sizes.begin(), groups.sizes.end(), 0);
}

bool maps_into(const SmGroups& a, const SmGroups& b) {
  std::map<int, int> image;
  for (std::size_t sm = 0; sm < a.group_of_sm.size(); ++sm) {
    const int from = a.group_of_sm[sm];
    const int to = b.group_of_sm[sm];
    if (from < 0 || to < 0) continue;
    if (image.try_emplace(from, to).first->second != to) return false;
  }
  return true;
}

/// Whether all SMs of a group belong to one TPC, as far as is known.
bool may_be_one_tpc(const std::vector<int>& sms, const SmGroups& tpcs) {
  if (tpcs.sizes.empty()) return sms.size() <= most_sms_of_tpc;
  std::set<int> here;
  for (const int sm : sms) here.insert(tpcs.group_of_sm[static_cast<std::size_t>(sm)]);
  return here.size() == 1 && !here.contains(-1);
}

}  // namespace

bool same_groups(const SmGroups& a, const SmGroups& b) {
  return maps_into(a, b) && maps_into(b, a);
}

MapVerdict combine_maps(std::span<const MapEvidence> evidence, int sm_count) {
  MapVerdict verdict;
  std::vector<std::string> agree, contradict;
  for (const MapEvidence& one : evidence) {
    if (one.groups.sizes.empty()) continue;
    if (verdict.groups.sizes.empty()) {
      verdict.groups = one.groups;
      verdict.confidence = one.confidence;
      agree.push_back(one.source);
    } else if (same_groups(verdict.groups, one.groups)) {
      agree.push_back(one.source);
    } else {
      contradict.push_back(one.source);
    }
  }
  if (agree.empty()) return verdict;
  const int known = known_sms(verdict.groups);
  if (agree.size() > 1) verdict.confidence = 1;
  if (!contradict.empty()) verdict.confidence = when_contradicted;
  verdict.confidence *= static_cast<double>(known) / sm_count;
  verdict.remark = fmt::format("by {}", fmt::join(agree, " and "));
  if (!contradict.empty()) {
    verdict.remark += fmt::format("; contradicted by {}", fmt::join(contradict, " and "));
  }
  if (known < sm_count) {
    verdict.remark += fmt::format("; {} of {} SMs are in no group", sm_count - known, sm_count);
  }
  return verdict;
}

SmGroups gpcs_of_clusters(std::span<const Cluster> clusters, const SmGroups& tpcs, int sm_count) {
  // Launches of each size alternate between the halves.
  std::vector<Cluster> half;
  for (std::size_t i = 0; i < clusters.size(); i += 2) half.push_back(clusters[i]);
  SmGroups groups = join_clusters(clusters, sm_count);
  if (join_clusters(half, sm_count).group_of_sm != groups.group_of_sm) return {};
  for (std::size_t group = 0; group < groups.sizes.size(); ++group) {
    std::vector<int> sms;
    for (int sm = 0; sm < sm_count; ++sm) {
      const int number = groups.group_of_sm[static_cast<std::size_t>(sm)];
      if (number == static_cast<int>(group)) sms.push_back(sm);
    }
    if (!may_be_one_tpc(sms, tpcs)) continue;
    for (const int sm : sms) groups.group_of_sm[static_cast<std::size_t>(sm)] = -1;
  }
  return make_groups(groups.group_of_sm, Singles::drop);
}

SmGroups tpcs_of_clusters(std::span<const Cluster> pairs, std::span<const Cluster> all,
                          int sm_count) {
  SmGroups tpcs = pair_partners(pairs, sm_count);
  const bool all_paired = known_sms(tpcs) == sm_count;
  const bool pairs_are_gpcs = same_groups(tpcs, join_clusters(all, sm_count));
  return all_paired && !pairs_are_gpcs ? tpcs : SmGroups{};
}

}  // namespace sonde
