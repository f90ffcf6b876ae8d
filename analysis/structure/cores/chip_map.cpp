// Maps of SMs: from clusters, and how far several methods agree.
#include "analysis/structure/cores/chip_map.hpp"

#include "base/random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

// The largest TPC of all GPUs (GT200: Wong 2010).
constexpr int most_sms_of_tpc = 3;
constexpr double when_contradicted = 0.4;
constexpr double when_outvoted = 0.7;  // more methods agree than contradict

constexpr std::uint64_t seed_of_halves = 1;  // arbitrary

int known_sms(const SmGroups& groups) {
  return std::accumulate(groups.sizes.begin(), groups.sizes.end(), 0);
}

bool may_be_one_tpc(const std::vector<int>& sms, const SmGroups& tpcs) {
  if (tpcs.sizes.empty()) return sms.size() <= most_sms_of_tpc;
  std::set<int> here;
  for (const int sm : sms) here.insert(tpcs.group_of_sm[static_cast<std::size_t>(sm)]);
  return here.size() == 1 && !here.contains(-1);
}

std::size_t find_root(std::vector<std::size_t>& parent, std::size_t item) {
  while (parent[item] != item) item = parent[item] = parent[parent[item]];
  return item;
}

/// GPCs: all SMs linked by clusters, because the blocks of a cluster lie in one GPC (CUDA
/// programming guide, thread block clusters).
SmGroups join_clusters(std::span<const Cluster> clusters, int sm_count) {
  std::vector<std::size_t> parent(static_cast<std::size_t>(sm_count));
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  for (const Cluster& cluster : clusters) {
    for (int sm : cluster) {
      const std::size_t root = find_root(parent, static_cast<std::size_t>(sm));
      parent[root] = find_root(parent, static_cast<std::size_t>(cluster.front()));
    }
  }
  std::vector<int> group_of_sm;
  for (std::size_t sm = 0; sm < parent.size(); ++sm) {
    group_of_sm.push_back(static_cast<int>(find_root(parent, sm)));
  }
  return make_groups(group_of_sm, Singles::drop);
}

/// TPCs: SMs that were each other's only partner in all clusters of two. SMs with several partners
/// get no group: then the hardware does not place pairs by TPC.
SmGroups pair_partners(std::span<const Cluster> pairs, int sm_count) {
  std::vector<std::set<int>> partners(static_cast<std::size_t>(sm_count));
  for (const Cluster& pair : pairs) {
    if (pair.size() != 2 || pair[0] == pair[1]) continue;
    partners[static_cast<std::size_t>(pair[0])].insert(pair[1]);
    partners[static_cast<std::size_t>(pair[1])].insert(pair[0]);
  }
  std::vector<int> group_of_sm(partners.size(), -1);
  for (std::size_t sm = 0; sm < partners.size(); ++sm) {
    if (partners[sm].size() != 1) continue;
    const auto partner = static_cast<std::size_t>(*partners[sm].begin());
    if (partners[partner] == std::set{static_cast<int>(sm)}) {
      group_of_sm[sm] = static_cast<int>(std::min(sm, partner));
    }
  }
  return make_groups(group_of_sm, Singles::drop);
}

/// Removes groups whose SMs may all belong to one TPC: such a group is no GPC.
SmGroups without_tpcs(const SmGroups& groups, const SmGroups& tpcs) {
  std::vector<int> left = groups.group_of_sm;
  for (const std::vector<int>& group : sms_by_group(groups)) {
    if (!may_be_one_tpc(group, tpcs)) continue;
    for (const int sm : group) left[static_cast<std::size_t>(sm)] = -1;
  }
  return make_groups(left, Singles::drop);
}

}  // namespace

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

bool same_groups(const SmGroups& a, const SmGroups& b) {
  return maps_into(a, b) && maps_into(b, a);
}

double MapVerdict::confidence(int sm_count) const {
  double confidence = agree.size() > 1 ? 1 : alone_confidence;
  if (!contradict.empty()) {
    confidence = agree.size() > contradict.size() ? when_outvoted : when_contradicted;
  }
  return confidence * known_sms(groups) / sm_count;
}

std::string MapVerdict::remark(int sm_count) const {
  std::string text = fmt::format("by {}", fmt::join(agree, " and "));
  if (!contradict.empty()) {
    text += fmt::format("; contradicted by {}", fmt::join(contradict, " and "));
  }
  const int known = known_sms(groups);
  if (known < sm_count) {
    text += fmt::format("; {} of {} SMs are in no group", sm_count - known, sm_count);
  }
  return text;
}

MapVerdict combine_maps(std::span<const MapEvidence> evidence) {
  MapVerdict verdict;
  for (const MapEvidence& one : evidence) {
    if (one.groups.sizes.empty()) continue;
    if (verdict.groups.sizes.empty()) {
      verdict.groups = one.groups;
      verdict.alone_confidence = one.confidence;
    }
    auto& side = same_groups(verdict.groups, one.groups) ? verdict.agree : verdict.contradict;
    side.push_back(one.source);
  }
  return verdict;
}

SmGroups gpcs_of_clusters(std::span<const Cluster> clusters, const SmGroups& tpcs, int sm_count) {
  // Random halves: launches of a size repeat each other, so every second cluster may be the same.
  Random random(seed_of_halves);
  std::array<std::vector<Cluster>, 2> halves;
  for (const Cluster& cluster : clusters) halves[random.below(2)].push_back(cluster);
  SmGroups groups = join_clusters(clusters, sm_count);
  for (const std::vector<Cluster>& half : halves) {
    if (join_clusters(half, sm_count).group_of_sm != groups.group_of_sm) return {};
  }
  return without_tpcs(groups, tpcs);
}

bool holds_up_others(std::span<const double> slowdowns, std::size_t members) {
  const double of_members = std::ranges::min(slowdowns.first(members));
  return std::ranges::any_of(slowdowns.subspan(members),
                             [&](double slowdown) { return slowdown - 1 > (of_members - 1) / 2; });
}

SmGroups tpcs_of_clusters(std::span<const Cluster> pairs, std::span<const Cluster> all,
                          int sm_count) {
  SmGroups tpcs = pair_partners(pairs, sm_count);
  const bool all_paired = known_sms(tpcs) == sm_count;
  const bool pairs_are_gpcs = same_groups(tpcs, join_clusters(all, sm_count));
  return all_paired && !pairs_are_gpcs ? tpcs : SmGroups{};
}

}  // namespace sonde
