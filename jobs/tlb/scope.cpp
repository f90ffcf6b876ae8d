// Pairs of SMs chase different entries at once. If both lose entries, they share the level. The
// group of SMs that share it with SM 0 is reported.
#include "jobs/tlb/parts.hpp"

#include "jobs/run/known_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sonde {
namespace {

// Share of the level that each of two SMs fills: one list fits, two do not. Even if one SM is half
// as fast, all its entries come between two accesses of the other.
constexpr double filling = 0.7;
// Two lists overfill every set. Under LRU and FIFO all entries then miss, fewer under random
// replacement.
constexpr double disturbed_share = 0.25;
constexpr std::uint64_t short_list = 256;

/// Two lists of different entries, together more than the level holds.
class PairChases {
 public:
  explicit PairChases(const TlbUnderTest& tlb) : tlb_(tlb) {
    const auto each = static_cast<std::uint64_t>(filling * static_cast<double>(tlb.entries) + 1);
    tlb_.chase.buffer_bytes = 2 * each * tlb.entry_bytes;
    lists_ = {list(0, each), list(each, each)};
  }

  std::uint64_t span_bytes() const { return tlb_.chase.buffer_bytes; }
  std::uint64_t entries() const { return lists_[0].size(); }

  ChaseLane lane(int sm, std::size_t number) const { return {sm, lists_[number]}; }

  /// Whether both lists lose entries.
  bool disturb_each_other(const std::vector<double>& shares) const {
    return std::min(shares[0], shares[1]) > disturbed_share;
  }

  /// Whether neither list loses entries.
  bool are_alone(const std::vector<double>& shares) const {
    return std::max(shares[0], shares[1]) <= disturbed_share;
  }

  /// Share of the entries that miss in each lane; all lanes are chased at once.
  std::vector<double> missing_shares(const std::vector<ChaseLane>& lanes) const {
    PairPasses passes{.warmup = 2, .timed = 15};
    if (entries() > short_list) passes = {.warmup = 2, .timed = 1, .most_pairs = 1024};
    std::vector<double> shares;
    for (std::vector<double>& costs : pair_costs(tlb_, tlb_.name + " scope", lanes, passes)) {
      const std::size_t positions = std::min<std::size_t>(entries(), costs.size());
      const std::vector<double> medians = position_medians({positions, std::move(costs)});
      shares.push_back(fraction_above({positions, medians}, tlb_.level.threshold_cycles));
    }
    return shares;
  }

 private:
  Offsets list(std::uint64_t first, std::uint64_t count) const {
    Lines entries;
    for (std::uint64_t i = first; i < first + count; ++i) entries.push_back(i * tlb_.entry_bytes);
    Offsets places;
    for (const std::vector<std::size_t>& round : rounds_of_accesses(tlb_, entries)) {
      for (std::size_t i : round) places.push_back(line_under(tlb_, entries[i]));
    }
    return places;
  }

  TlbUnderTest tlb_;
  std::vector<Offsets> lists_;
};

struct Sharing {
  std::vector<int> sms{0};
  std::size_t clear = 0;  // pairs where both SMs or neither lost entries
};

Sharing find_sharing(const PairChases& chases, int sm_count) {
  Sharing sharing;
  for (int sm = 1; sm < sm_count; ++sm) {
    const auto shares = chases.missing_shares({chases.lane(0, 0), chases.lane(sm, 1)});
    const bool disturbed = chases.disturb_each_other(shares);
    sharing.clear += disturbed || chases.are_alone(shares);
    if (disturbed) sharing.sms.push_back(sm);
  }
  return sharing;
}

/// One SM of each TPC, or of each GPC, if that group of SM 0 includes all SMs that share the level
/// with it; all SMs if none shares it; empty if the groups are not known.
std::vector<int> find_sms_apart(const std::vector<int>& sharing, int sm_count,
                                const KnownGroups& groups) {
  std::vector<int> apart;
  if (sharing.size() == 1) {
    for (int sm = 0; sm < sm_count; ++sm) apart.push_back(sm);
    return apart;
  }
  for (const std::vector<double>& group_of : {groups.tpc_of_sm, groups.gpc_of_sm}) {
    if (group_of.size() != static_cast<std::size_t>(sm_count)) continue;
    std::vector<int> group;
    std::set<double> seen;
    for (int sm = 0; sm < sm_count; ++sm) {
      const double number = group_of[static_cast<std::size_t>(sm)];
      if (number == group_of.front()) group.push_back(sm);
      if (number >= 0 && seen.insert(number).second) apart.push_back(sm);
    }
    if (std::ranges::includes(group, sharing)) return apart;
    apart.clear();
  }
  return apart;
}

}  // namespace

std::vector<int> report_tlb_scope(const TlbUnderTest& tlb) {
  const std::string metric = tlb.name + ".scope";
  const PairChases chases(tlb);
  if (chases.span_bytes() > tlb.limit_bytes || chases.entries() <= tlb.inner.entries) {
    tlb.run.report(not_resolvable(
        metric, chases.span_bytes() > tlb.limit_bytes
                    ? "two SMs cannot overfill it: there is too little memory"
                    : "the entries that one SM may fill of it fit in an inner level"));
    return {};
  }
  // Both lists on one SM: each alone, and both at once.
  const std::vector<double> alone{chases.missing_shares({chases.lane(0, 0)})[0],
                                  chases.missing_shares({chases.lane(0, 1)})[0]};
  const std::vector<double> both = chases.missing_shares({chases.lane(0, 0), chases.lane(0, 1)});
  if (!chases.are_alone(alone) || !chases.disturb_each_other(both)) {
    tlb.run.report(not_resolvable(
        metric,
        fmt::format("of {} entries, {:.0f} % miss when one SM chases them alone, and {:.0f} and "
                    "{:.0f} % when the same SM chases as many other entries at once",
                    chases.entries(), 100 * std::ranges::max(alone), 100 * both[0],
                    100 * both[1])));
    return {};
  }
  const int sm_count = tlb.run.info().sm_count;
  const Sharing sharing = find_sharing(chases, sm_count);
  const auto pairs = static_cast<std::uint64_t>(sm_count - 1);
  const KnownGroups groups = known_groups(tlb.run);
  ScopeName scope = name_scope(sharing.sms, sm_count, groups);
  if (!scope.name) scope = guess_scope(sharing.sms, sm_count, groups);
  const std::string shared =
      fmt::format("of {} SMs, {} share it with SM 0", sm_count, sharing.sms.size() - 1);
  const double clear =
      pairs == 0 ? 0 : static_cast<double>(sharing.clear) / static_cast<double>(pairs);
  if (scope.name) {
    tlb.run.report(found(metric, *scope.name, std::min(clear, scope.confidence), pairs),
                   scope.remark.empty() ? shared : shared + "; " + scope.remark);
  } else {
    tlb.run.report(
        not_resolvable(metric, shared + ", and which SMs form a TPC or a GPC is not known"));
  }
  return find_sms_apart(sharing.sms, sm_count, groups);
}

}  // namespace sonde
