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
// Sets of a search for overloaded ports: parts of the most that stream at once, since nobody knows
// how many a port bears.
constexpr double set_parts[] = {1, 1, 0.8, 0.6};
constexpr std::size_t widest_stride = 16;  // TPCs dealt over GPCs: more than any GPU has
constexpr std::size_t longest_run = 3;     // SMs of a TPC (GT200: Wong 2010), if units are SMs
// A group is left alone when so many sets of its members, of changing size, did not part it.
constexpr int quiet_sets = 12;
// The search ends when so many sets in a row parted nothing, and some for each unit: one of every
// kind, stride and run.
constexpr std::size_t set_kinds = 3;
constexpr std::size_t quiet_turns = set_kinds * (widest_stride - 1) * longest_run;
constexpr std::size_t quiet_turns_of_unit = 4;
// However often there is news: twice what drawn chips took (tests/bench/score_floor_maps).
constexpr std::size_t most_turns_of_unit = 100;
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

/// The unit with the most partners that are open; `units.size()` if there is none with any.
std::size_t most_open(const ApartTable& table, const Units& units) {
  std::size_t chosen = units.size();
  std::size_t most = 0;
  for (const std::size_t unit : units) {
    const std::size_t open = table.open_partners(unit, units).size();
    if (open > most) chosen = unit;
    most = std::max(most, open);
  }
  return chosen;
}

/// The search for groups of units that share ports which only many of them overload.
class OverloadSearch {
 public:
  /// @param most that stream at once  @param units of the trials that are looked at
  OverloadSearch(PortTrials& trials, std::size_t most, Units units, std::uint64_t seed)
      : trials_(trials),
        random_(seed),
        most_(most),
        units_(std::move(units)),
        table_(trials.units()),
        late_(trials.units(), 0),
        settled_(trials.units(), 0),
        asked_(trials.units(), 0) {}

  /// Group of each unit of the trials, -1 where none is seen.
  std::vector<int> run() {
    const std::size_t enough = quiet_turns + quiet_turns_of_unit * units_.size();
    std::size_t quiet = 0;
    const std::size_t most_turns = most_turns_of_unit * units_.size();
    for (std::size_t turn = 0; most_ > 2 && quiet < enough && turn < most_turns; ++turn) {
      const std::size_t pivot = next_pivot();
      if (pivot == trials_.units()) break;
      const Units open = table_.open_partners(pivot, units_);
      Units set = first_of(ordered(open, pivot, turn), set_size(open.size() + 1) - 1);
      set.push_back(pivot);
      ++asked_[pivot];
      if (play(std::move(set))) {
        quiet = 0;
        std::ranges::fill(asked_, 0);
      } else {
        ++quiet;
        settle(pivot, open);
      }
    }
    return confirmed();
  }

 private:
  /// Of the units that are not settled and have partners that are open, the one that was asked
  /// least since the last news.
  std::size_t next_pivot() const {
    std::size_t chosen = trials_.units();
    for (const std::size_t unit : units_) {
      if (settled_[unit] != 0 || table_.open_partners(unit, units_).empty()) continue;
      if (chosen == trials_.units() || asked_[unit] < asked_[chosen]) chosen = unit;
    }
    return chosen;
  }

  /// All of a group that can stream at once, if sets with this member of it parted it no more.
  void settle(std::size_t pivot, const Units& open) {
    if (asked_[pivot] < quiet_sets || open.size() >= most_) return;
    settled_[pivot] = 1;
    for (const std::size_t unit : open) settled_[unit] = 1;
  }

  std::size_t set_size(std::size_t pool) {
    const double part = set_parts[random_.below(std::size(set_parts))];
    const auto size =
        static_cast<std::size_t>(part * static_cast<double>(std::min(pool, most_)) + 0.5);
    return std::max<std::size_t>(size, 2);
  }

  /// Partners of a unit, those first that shall stream with it: any, those with the nearest
  /// numbers, or runs of numbers in steps of a stride from it. TPCs of a GPC have numbers in a row,
  /// or dealt over all GPCs, so that such sets meet more of them than drawn ones.
  Units ordered(Units open, std::size_t pivot, std::size_t turn) {
    shuffle(open, random_);
    const std::size_t kind = turn % set_kinds;
    const std::size_t stride = 2 + turn / set_kinds % (widest_stride - 1);
    const std::size_t run = 1 + turn / set_kinds / (widest_stride - 1) % longest_run;
    const auto distance = [&](std::size_t unit) {
      if (kind == 0) return std::size_t{0};
      if (kind == 1) return std::max(unit, pivot) - std::min(unit, pivot);
      return static_cast<std::size_t>(unit / run % stride != pivot / run % stride);
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

  std::vector<int> confirmed() {
    Units late;
    std::ranges::copy_if(units_, std::back_inserter(late),
                         [&](std::size_t unit) { return late_[unit] != 0; });
    std::vector<int> groups = group_together(table_, late);
    for (const int group : group_numbers(groups)) {
      if (!is_one_port(members_of(groups, group))) std::ranges::replace(groups, group, -1);
    }
    return groups;
  }

  Paces draw_set(Units& members, std::size_t size) {
    shuffle(members, random_);
    return split_paces(trials_.play(first_of(members, size)), trials_.limits());
  }

  /// From one number of members on all are late, below it none is, whichever they are.
  bool is_one_port(Units members) {
    if (members.size() > most_ || members.size() < 2) return false;
    std::size_t least_late = members.size() + 1;
    while (least_late > 2 && draw_set(members, least_late - 1).slow.size() == least_late - 1) {
      --least_late;
    }
    if (least_late > members.size()) return false;
    for (int i = 0; i < confirming_sets; ++i) {
      if (!draw_set(members, least_late).fast.empty()) return false;
      if (least_late == 2) continue;
      const Paces below = draw_set(members, least_late - 1);
      if (!below.slow.empty() && !below.fast.empty()) return false;
    }
    return true;
  }

  PortTrials& trials_;
  Random random_;
  std::size_t most_;
  Units units_;
  ApartTable table_;
  std::vector<char> late_;  // units that some port held up
  std::vector<char> settled_;
  std::vector<int> asked_;  // sets with a unit as pivot since the last news
};

}  // namespace

PortGroups find_port_pairs(PortTrials& trials, std::uint64_t seed) {
  Random random(seed);
  const Units units = all_units(trials);
  ApartTable table(units.size());
  ApartTable unknown = table;  // pairs neither apart nor confirmed
  std::size_t size = trials.find_most_at_once(random());
  PortGroups found{std::vector<int>(units.size(), -1), false};
  while (size > 1) {
    const std::size_t pivot = most_open(unknown, units);
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
  Random random(seed);
  const std::size_t most = trials.find_most_at_once(random());
  PortGroups found{std::vector<int>(trials.units(), -1), false};
  // What a search left over is looked at again, without all that it found.
  for (Units left = all_units(trials); left.size() > 1;) {
    const std::vector<int> groups = OverloadSearch(trials, most, left, random()).run();
    for (const std::size_t unit : left) found.group_of_unit[unit] = groups[unit];
    Units still_left = members_of(found.group_of_unit, -1);
    if (still_left.size() == left.size()) break;
    found.any_seen = true;
    left = std::move(still_left);
  }
  if (found.any_seen) place_by_port(trials, found.group_of_unit);
  return found;
}

PortCheck check_ports(PortTrials& trials, const std::vector<int>& group_of_unit,
                      std::uint64_t seed) {
  const std::vector<int> groups = group_numbers(group_of_unit);
  std::vector<Units> overloaded;
  for (const int group : groups) {
    const Units members = members_of(group_of_unit, group);
    if (members.size() < 2) continue;
    const PortTrial trial = trials.play(members);
    if (std::ranges::min(trial.slowdowns) > trials.limits().slow) overloaded.push_back(members);
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
    check.contradicted += holds_up_others(trials.play(set), members.size());
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
