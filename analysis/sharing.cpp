// From fractions of misses to groups of SMs, and from groups to names.
#include "analysis/sharing.hpp"

#include <algorithm>
#include <set>

namespace sonde {
namespace {

// A chase may miss this often alone if sets fill unevenly or are replaced at random.
constexpr double most_missed_alone = 0.4;
// Two lists of 0.7 caches are 1.4 caches: even the best policy misses 0.4 of 1.4, so each loses
// 0.28; under LRU each loses everything. A loss above this limit needs a common cache ...
constexpr double least_lost = 0.2;
// ... and a loss below this limit is noise: 0.001 outliers, a few percent accidental fetches.
constexpr double most_noise = 0.06;

// SMs of a TPC have consecutive numbers. No known TPC has more than three SMs (GT200).
constexpr std::size_t widest_tpc = 3;
constexpr std::size_t usual_tpc = 2;
// A GPC of so few SMs looks the same. (jobs/clock.cpp has the same confidence for the clock.)
constexpr double confidence_by_size = 0.9;
// A GPU with at least eight times so many SMs has no smaller GPC. On an H200 six SMs share the
// second TLB level, of 16 or 18 SMs in a GPC.
constexpr std::size_t smallest_large_gpc = 8;

std::vector<int> members(const std::vector<double>& group_of_sm, double group) {
  std::vector<int> sms;
  for (std::size_t sm = 0; sm < group_of_sm.size(); ++sm) {
    if (group_of_sm[sm] == group) sms.push_back(static_cast<int>(sm));
  }
  return sms;
}

bool all_known(const std::vector<double>& group_of_sm, int sm_count) {
  return group_of_sm.size() == static_cast<std::size_t>(sm_count) &&
         std::ranges::all_of(group_of_sm, [](double group) { return group >= 0; });
}

bool in_a_row(const std::vector<int>& sms) {
  return sms.back() - sms.front() == static_cast<int>(sms.size()) - 1;
}

/// Nothing if the SMs are only a part of some GPC and reach beyond it.
std::optional<std::string> name_by_gpcs(const std::vector<int>& sharing,
                                        const std::vector<double>& gpc_of_sm) {
  std::set<double> gpcs;
  for (int sm : sharing) gpcs.insert(gpc_of_sm[static_cast<std::size_t>(sm)]);
  std::size_t sms = 0;
  for (double gpc : gpcs) sms += members(gpc_of_sm, gpc).size();
  const bool whole = sms == sharing.size();
  if (gpcs.size() == 1) return whole ? "gpc" : "part of a gpc";
  if (whole) return "partition";
  return std::nullopt;
}

}  // namespace

Loss judge_loss(double alone, double together) {
  if (alone > most_missed_alone) return Loss::unclear;
  const double lost = together - alone;
  if (lost >= least_lost) return Loss::some;
  return lost <= most_noise ? Loss::none : Loss::unclear;
}

ScopeName name_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups) {
  if (sharing.size() == 1) return {"sm", 1};
  if (sharing.size() == static_cast<std::size_t>(sm_count)) return {"device", 1};
  if (all_known(groups.tpc_of_sm, sm_count)) {
    if (sharing == members(groups.tpc_of_sm, groups.tpc_of_sm.front()))
      return {"tpc", groups.tpc_confidence};
  } else if (sharing.size() == usual_tpc && in_a_row(sharing)) {
    return {"tpc", confidence_by_size,
            "which SMs form a TPC is not known: these SMs have consecutive numbers, but a GPC with "
            "so few SMs would look the same"};
  }
  if (!all_known(groups.gpc_of_sm, sm_count)) return {};
  return {name_by_gpcs(sharing, groups.gpc_of_sm), groups.gpc_confidence};
}

ScopeName guess_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups) {
  if (sharing.size() <= widest_tpc || all_known(groups.gpc_of_sm, sm_count)) return {};
  const bool many_sms = static_cast<std::size_t>(sm_count) >= 8 * smallest_large_gpc;
  const bool is_part = many_sms && sharing.size() < smallest_large_gpc;
  return {is_part ? "part of a gpc" : "gpc", confidence_by_size,
          "which SMs form a GPC is not known"};
}

std::optional<bool> shrinks_with_carveout(const std::vector<double>& carveout_bytes,
                                          const std::vector<double>& size_bytes) {
  if (carveout_bytes.size() < 2 || carveout_bytes.size() != size_bytes.size()) return std::nullopt;
  const double taken_bytes = carveout_bytes.back() - carveout_bytes.front();
  const double lost_bytes = size_bytes.front() - size_bytes.back();
  if (taken_bytes <= 0) return std::nullopt;
  // Parts of the array may serve neither, so the loss need not equal the carve-out.
  if (lost_bytes >= 0.5 * taken_bytes && lost_bytes <= 1.5 * taken_bytes) return true;
  const auto [least, most] = std::ranges::minmax(size_bytes);
  if (least == most) return false;
  return std::nullopt;
}

}  // namespace sonde
