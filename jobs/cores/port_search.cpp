// Group tests of ports: who streams with whom next, until nothing is open.
#include "jobs/cores/port_search.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace sonde {
namespace {

using Units = std::vector<std::size_t>;

// Pairs that nothing has set apart are tried alone once a unit has no more of them.
constexpr std::size_t few_partners = 2;
// Sets of a search for overloaded ports: parts of the most that stream at once, in turn, since
// nobody knows how many a port bears.
constexpr double set_parts[] = {1, 0.8, 0.6, 0.45};
constexpr std::uint64_t widest_stride = 16;  // TPCs dealt over GPCs: more than any GPU has
// A group is left alone when so many sets of its members, of changing size, did not part it. As
// long as it is too large to stream at once, few sets overload a port, and more are needed.
constexpr int quiet_sets = 12;
constexpr int quiet_sets_of_large = 36;
// Of each kind, with drawn members: one that is no group would have to be late as a whole every
// time.
constexpr int confirming_sets = 6;

Units all_units(const PortTrials& trials) {
  Units units(trials.units());
  std::iota(units.begin(), units.end(), std::size_t{0});
  return units;
}

Units members_of(const std::vector<int>& group_of_unit, int group) {
  Units members;
  for (std::size_t unit = 0; unit < group_of_unit.size(); ++unit) {
    if (group_of_unit[unit] == group) members.push_back(unit);
  }
  return members;
}

std::vector<int> group_numbers(const std::vector<int>& group_of_unit) {
  std::vector<int> numbers;
  std::ranges::copy_if(group_of_unit, std::back_inserter(numbers), [](int g) { return g >= 0; });
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

Units first_of(const Units& units, std::size_t count) {
  return {units.begin(),
          units.begin() + static_cast<std::ptrdiff_t>(std::min(count, units.size()))};
}

/// The unit with the most partners that are open; `units` if there is none with any.
std::size_t most_open(const ApartTable& table, const std::vector<char>& settled,
                      const Units& units) {
  std::size_t chosen = units.size();
  std::size_t most = 0;
  for (const std::size_t unit : units) {
    if (settled[unit] != 0) continue;
    const std::size_t open = table.open_partners(unit, units).size();
    if (open > most) chosen = unit;
    most = std::max(most, open);
  }
  return chosen;
}

/// The search for groups of units that share ports which only many of them overload.
class OverloadSearch {
 public:
  OverloadSearch(PortTrials& trials, std::uint64_t seed)
      : trials_(trials),
        random_(seed),
        most_(trials.find_most_at_once(random_())),
        units_(all_units(trials)),
        table_(trials.units()),
        late_(trials.units(), 0) {}

  PortGroups run() {
    std::vector<char> settled(units_.size(), 0);
    std::vector<int> quiet(units_.size(), 0);
    for (std::size_t turn = 0; most_ > 2; ++turn) {
      const std::size_t pivot = most_open(table_, settled, units_);
      if (pivot == units_.size()) break;
      const Units open = table_.open_partners(pivot, units_);
      Units set = first_of(ordered(open, pivot), set_size(open.size() + 1, turn) - 1);
      set.push_back(pivot);
      if (play(std::move(set))) {
        quiet[pivot] = 0;
        continue;
      }
      const int enough = open.size() < most_ ? quiet_sets : quiet_sets_of_large;
      if (++quiet[pivot] < enough) continue;
      settled[pivot] = 1;
      for (const std::size_t unit : open) {
        if (table_.open_partners(unit, units_).size() == open.size()) settled[unit] = 1;
      }
    }
    return confirmed();
  }

 private:
  std::size_t set_size(std::size_t pool, std::size_t turn) const {
    const double part = set_parts[turn % std::size(set_parts)];
    const auto size =
        static_cast<std::size_t>(part * static_cast<double>(std::min(pool, most_)) + 0.5);
    return std::max<std::size_t>(size, 2);
  }

  /// Partners of a unit, those first that shall stream with it: any, those with the nearest
  /// numbers, or those in steps of a drawn stride from it. TPCs of a GPC have numbers in a row, or
  /// dealt over all GPCs, so that such sets meet more of them than drawn ones.
  Units ordered(Units open, std::size_t pivot) {
    shuffle(open, random_);
    const std::uint64_t kind = random_.below(3);
    const std::uint64_t stride = 2 + random_.below(widest_stride - 1);
    const auto distance = [&](std::size_t unit) {
      const std::size_t apart = unit > pivot ? unit - pivot : pivot - unit;
      if (kind == 0) return std::size_t{0};
      return kind == 1 ? apart : static_cast<std::size_t>(apart % stride != 0);
    };
    std::ranges::stable_sort(open, {}, distance);
    return open;
  }

  /// @return whether it set units apart that were not
  bool play(Units set) {
    const Paces paces = split_paces(trials_.play(std::move(set)), trials_.limits());
    bool is_new = false;
    for (const std::size_t slow : paces.slow) {
      for (const std::size_t fast : paces.fast) is_new |= !table_.are_apart(slow, fast);
      if (!paces.fast.empty()) late_[slow] = 1;
    }
    // All late at once: a port, if fewer than what all share bears.
    if (paces.fast.empty()) {
      for (const std::size_t slow : paces.slow) late_[slow] = 1;
    }
    table_.note_overload(paces);
    return is_new;
  }

  PortGroups confirmed() {
    Units late;
    std::ranges::copy_if(units_, std::back_inserter(late),
                         [&](std::size_t unit) { return late_[unit] != 0; });
    PortGroups found{group_together(table_, late), false};
    for (const int group : group_numbers(found.group_of_unit)) {
      const bool holds = is_one_port(members_of(found.group_of_unit, group));
      found.any_seen |= holds;
      if (!holds) std::ranges::replace(found.group_of_unit, group, -1);
    }
    if (found.any_seen) place_by_port(trials_, found.group_of_unit);
    return found;
  }

  enum class Outcome { all_late, none_late, mixed, unclear };

  Outcome draw_set(Units& members, std::size_t size) {
    shuffle(members, random_);
    const Paces paces = split_paces(trials_.play(first_of(members, size)), trials_.limits());
    if (paces.slow.size() == size) return Outcome::all_late;
    if (paces.fast.size() == size) return Outcome::none_late;
    return paces.slow.empty() || paces.fast.empty() ? Outcome::unclear : Outcome::mixed;
  }

  /// From one number of members on all are late, below it none is, whichever they are.
  bool is_one_port(Units members) {
    if (members.size() > most_ || members.size() < 2) return false;
    std::size_t least_late = members.size() + 1;
    while (least_late > 2 && draw_set(members, least_late - 1) == Outcome::all_late) --least_late;
    if (least_late > members.size()) return false;
    for (int i = 0; i < confirming_sets; ++i) {
      if (draw_set(members, least_late) != Outcome::all_late) return false;
      if (least_late == 2) continue;
      const Outcome below = draw_set(members, least_late - 1);
      if (below == Outcome::mixed || below == Outcome::all_late) return false;
    }
    return true;
  }

  PortTrials& trials_;
  Random random_;
  std::size_t most_;
  Units units_;
  ApartTable table_;
  std::vector<char> late_;  // units that some port held up
};

}  // namespace

PortGroups find_port_pairs(PortTrials& trials, std::uint64_t seed) {
  Random random(seed);
  const Units units = all_units(trials);
  ApartTable table(units.size());
  ApartTable unknown = table;  // pairs neither apart nor confirmed
  std::size_t size = trials.find_most_at_once(random());
  PortGroups found{std::vector<int>(units.size(), -1), false};
  const std::vector<char> none_settled(units.size(), 0);
  while (size > 1) {
    const std::size_t pivot = most_open(unknown, none_settled, units);
    if (pivot == units.size()) break;
    Units open = unknown.open_partners(pivot, units);
    shuffle(open, random);
    const bool alone = open.size() <= few_partners || size == 2;
    Units set = first_of(open, alone ? 1 : size - 1);
    const std::size_t partner = set.front();
    set.push_back(pivot);
    const PortTrial trial = trials.play(std::move(set));
    const Paces paces = split_paces(trial, trials.limits());
    table.note_pairs(trial, paces);
    unknown.note_pairs(trial, paces);
    if (alone) {
      if (paces.slow.size() < 2) table.set(pivot, partner);
      found.any_seen |= paces.slow.size() == 2;
      unknown.set(pivot, partner);
    } else if (paces.fast.empty()) {
      size = std::max<std::size_t>(2, size / 2);  // something that more of them share is in the way
    }
  }
  if (found.any_seen) found.group_of_unit = group_together(table, units);
  return found;
}

PortGroups find_overloaded_ports(PortTrials& trials, std::uint64_t seed) {
  return OverloadSearch(trials, seed).run();
}

PortCheck check_ports(PortTrials& trials, const std::vector<int>& group_of_unit,
                      std::uint64_t seed) {
  const auto count_late = [&](const Units& set) {
    return split_paces(trials.play(set), trials.limits()).slow.size();
  };
  const std::vector<int> groups = group_numbers(group_of_unit);
  std::vector<Units> overloaded;
  for (const int group : groups) {
    Units members = members_of(group_of_unit, group);
    if (members.size() > 1 && count_late(members) == members.size()) {
      overloaded.push_back(std::move(members));
    }
  }
  PortCheck check{.seen = overloaded.size()};
  if (overloaded.empty()) return check;
  const std::size_t most = trials.find_most_at_once(seed);
  for (const Units& members : overloaded) {
    Units set = members;
    for (const int other : groups) {
      if (other == group_of_unit[members.front()] || set.size() >= most) continue;
      set.push_back(members_of(group_of_unit, other).front());
    }
    check.contradicted += count_late(set) > members.size();
  }
  return check;
}

void place_by_port(PortTrials& trials, std::vector<int>& group_of_unit) {
  const Units lone = members_of(group_of_unit, -1);
  if (lone.empty()) return;
  std::map<std::size_t, std::vector<int>> late_with;
  for (const int group : group_numbers(group_of_unit)) {
    const Units members = members_of(group_of_unit, group);
    for (const std::size_t unit : lone) {
      Units set = members;
      set.push_back(unit);
      const Paces paces = split_paces(trials.play(std::move(set)), trials.limits());
      const bool is_late = std::ranges::find(paces.slow, unit) != paces.slow.end();
      if (is_late && paces.slow.size() == members.size() + 1) late_with[unit].push_back(group);
    }
  }
  for (const auto& [unit, groups] : late_with) {
    if (groups.size() == 1) group_of_unit[unit] = groups.front();
  }
}

}  // namespace sonde
