// Pairs that cannot share a port, and the groups that are left.
#include "analysis/structure/cores/port_sharing.hpp"

#include <algorithm>
#include <numeric>

namespace sonde {

PaceLimits choose_limits(double noise) {
  PaceLimits limits;
  limits.fast = std::max(limits.fast, 1 + 3 * noise);
  limits.slow = std::max(limits.slow, 1 + 6 * noise);
  return limits;
}

Paces split_paces(const PortTrial& trial, const PaceLimits& limits) {
  Paces paces;
  for (std::size_t i = 0; i < trial.units.size(); ++i) {
    if (trial.slowdowns[i] < limits.fast) paces.fast.push_back(trial.units[i]);
    if (trial.slowdowns[i] > limits.slow) paces.slow.push_back(trial.units[i]);
  }
  return paces;
}

bool holds_up_others(const PortTrial& trial, std::size_t members) {
  const auto first_other = trial.slowdowns.begin() + static_cast<std::ptrdiff_t>(members);
  const double of_members = *std::min_element(trial.slowdowns.begin(), first_other);
  return std::any_of(first_other, trial.slowdowns.end(),
                     [&](double slowdown) { return slowdown - 1 > (of_members - 1) / 2; });
}

std::vector<std::size_t> ApartTable::open_partners(
    std::size_t unit, const std::vector<std::size_t>& candidates) const {
  std::vector<std::size_t> open;
  std::ranges::copy_if(candidates, std::back_inserter(open),
                       [&](std::size_t other) { return other != unit && !are_apart(unit, other); });
  return open;
}

void ApartTable::note_pairs(const PortTrial& trial, const Paces& paces) {
  for (const std::size_t fast : paces.fast) {
    for (const std::size_t other : trial.units) {
      if (other != fast) set(fast, other);
    }
  }
}

void ApartTable::note_overload(const Paces& paces) {
  for (const std::size_t slow : paces.slow) {
    for (const std::size_t fast : paces.fast) set(slow, fast);
  }
}

std::vector<int> group_together(const ApartTable& table, const std::vector<std::size_t>& units) {
  std::vector<int> group_of_unit(table.units(), -1);
  for (const std::size_t unit : units) {
    if (group_of_unit[unit] >= 0) continue;
    std::vector<std::size_t> members = table.open_partners(unit, units);
    members.push_back(unit);
    const bool agree = std::ranges::all_of(members, [&](std::size_t member) {
      auto of_member = table.open_partners(member, units);
      of_member.push_back(member);
      std::ranges::sort(of_member);
      return std::ranges::is_permutation(of_member, members);
    });
    if (!agree) continue;
    for (const std::size_t member : members) group_of_unit[member] = static_cast<int>(unit);
  }
  return group_of_unit;
}

SmGroups expand_units(const std::vector<int>& group_of_unit,
                      const std::vector<std::vector<int>>& sms_of_unit, int sm_count) {
  std::vector<int> group_of_sm(static_cast<std::size_t>(sm_count), -1);
  for (std::size_t unit = 0; unit < sms_of_unit.size(); ++unit) {
    for (const int sm : sms_of_unit[unit]) {
      group_of_sm[static_cast<std::size_t>(sm)] = group_of_unit[unit];
    }
  }
  return make_groups(group_of_sm, Singles::keep);
}

}  // namespace sonde
