// Asks about all sets at a time, with lists of more and more or fewer and fewer lines.
#include "analysis/structure/sets/ways_per_set.hpp"

#include "analysis/structure/sets/miss_oracle.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint32_t most_ways_apart = 8;  // largest difference between two sets

/// The search for the ways of one set: if the first number of lines fits, tries more, else fewer.
struct WaysSearch {
  std::uint32_t lines = 0;  // asked next
  enum class Course { unknown, more, fewer, settled, too_few_lines } course = Course::unknown;
  std::uint32_t ways = 0;  // if settled; with too few lines, all of which fit, their number

  bool is_open() const { return course != Course::settled && !is_short(); }
  bool is_short() const { return course == Course::too_few_lines; }

  /// @param available lines of the set that may be accessed
  void bound(std::uint32_t available) {
    if (!is_open() || lines <= available) return;
    ways = available;
    if (course == Course::unknown) {
      lines = available;
    } else {
      course = Course::too_few_lines;
    }
  }

  void take(bool overflows) {
    if (course == Course::unknown) course = overflows ? Course::fewer : Course::more;
    const bool leaves_none = overflows && lines == 1;  // co-resident lines occupy all ways
    if (leaves_none || overflows == (course == Course::more)) {
      ways = overflows ? lines - 1 : lines;
      course = Course::settled;
    } else {
      lines = overflows ? lines - 1 : lines + 1;
    }
  }
};

/// One list with lines of several sets.
struct JointList {
  Lines lines;
  std::vector<std::size_t> sets;
};

/// Lists of the lines of every open set; a list has as many sets as fit into `capacity` lines.
std::vector<JointList> pack_lists(const std::vector<WaysSearch>& searches,
                                  const std::vector<Lines>& lines_by_set, std::size_t capacity) {
  std::vector<JointList> lists(1);
  for (std::size_t set = 0; set < searches.size(); ++set) {
    if (!searches[set].is_open()) continue;
    const std::uint32_t count = searches[set].lines;
    if (!lists.back().lines.empty() && lists.back().lines.size() + count > capacity) {
      lists.emplace_back();
    }
    const Lines& lines = lines_by_set[set];
    lists.back().lines.insert(lists.back().lines.end(), lines.begin(), lines.begin() + count);
    lists.back().sets.push_back(set);
  }
  return lists;
}

void ask_open_sets(std::vector<WaysSearch>& searches, const std::vector<Lines>& lines_by_set,
                   std::size_t capacity, const MissOracle& ask) {
  const std::vector<JointList> lists = pack_lists(searches, lines_by_set, capacity);
  std::vector<Lines> asked;
  for (const JointList& list : lists) asked.push_back(list.lines);
  const std::vector<MissCounts> answers = ask(asked);
  for (std::size_t list = 0; list < lists.size(); ++list) {
    std::size_t at = 0;
    for (std::size_t set : lists[list].sets) {
      SetMisses seen;
      for (std::uint32_t i = 0; i < searches[set].lines; ++i) seen.add(answers[list].misses[at++]);
      searches[set].take(set_overflows(seen, answers[list]));
    }
  }
}

enum class Outcome { settled, unseen };

/// Number of co-resident lines by number of the set.
std::vector<std::uint32_t> count_residents(const IndexFunction& index, const LinePool& space) {
  std::vector<std::uint32_t> residents(index.sets);
  for (std::uint64_t line : space.co_resident) ++residents[set_of(index, line)];
  return residents;
}

/// Sets without any line that may be accessed cannot be measured. They get the ways of the
/// conflict's set, less the co-resident lines of each.
void settle_taken_sets(std::vector<WaysSearch>& searches, const std::vector<Lines>& lines_by_set,
                       const IndexFunction& index, const std::vector<std::uint32_t>& residents,
                       const EvictionSet& conflict) {
  const std::uint64_t home = set_of(index, conflict.lines.front());
  const auto whole = static_cast<std::uint32_t>(conflict.ways()) + residents[home];
  for (std::size_t set = 0; set < searches.size(); ++set) {
    if (!lines_by_set[set].empty()) continue;
    searches[set] = {.lines = 0,
                     .course = WaysSearch::Course::settled,
                     .ways = whole - std::min(whole, residents[set])};
  }
}

/// Asks until all sets are settled or have too few lines. Unseen if one is far from the first set.
Outcome settle_ways(std::vector<WaysSearch>& searches, const std::vector<Lines>& lines_by_set,
                    std::size_t capacity, const MissOracle& ask) {
  for (std::uint32_t step = 0; step <= 2 * most_ways_apart; ++step) {
    bool open = false;
    for (std::size_t set = 0; set < searches.size(); ++set) {
      searches[set].bound(static_cast<std::uint32_t>(lines_by_set[set].size()));
      open = open || searches[set].is_open();
    }
    if (!open) return Outcome::settled;
    ask_open_sets(searches, lines_by_set, capacity, ask);
  }
  return Outcome::unseen;
}

/// Sets with more ways than usual (or fewer: `compare`), co-resident lines included; empty if there
/// are more than 16, and than 2 % of all. Of two equally common numbers the larger is the usual
/// one.
template <class Compare>
std::vector<std::size_t> find_few(const std::vector<WaysSearch>& searches,
                                  const std::vector<std::uint32_t>& residents, Compare compare) {
  const std::size_t most_sets = std::max<std::size_t>(16, searches.size() / 50);
  std::map<std::uint32_t, std::size_t> counts;
  for (std::size_t set = 0; set < searches.size(); ++set)
    ++counts[searches[set].ways + residents[set]];
  const auto commonest = std::ranges::max_element(
      counts, {}, [](const auto& count) { return std::pair(count.second, count.first); });
  std::vector<std::size_t> few;
  for (std::size_t set = 0; set < searches.size(); ++set)
    if (compare(searches[set].ways + residents[set], commonest->first)) few.push_back(set);
  return few.size() <= most_sets ? few : std::vector<std::size_t>{};
}

/// If the sets are few, takes ways off while that many lines still miss in most orders.
void settle_larger(std::vector<WaysSearch>& searches, const std::vector<std::size_t>& sets,
                   const std::vector<Lines>& lines_by_set, const MissOracle& ask) {
  constexpr std::size_t few_of_all = 4;
  if (few_of_all * sets.size() > searches.size()) return;
  for (const std::size_t set : sets) {
    std::uint32_t& ways = searches[set].ways;
    while (ways > 0 && miss_in_most_orders(lines_by_set[set], ways, ask)) --ways;
  }
}

/// Measures the ways of these sets again, each set alone and in six orders of its lines, and takes
/// the largest answer. More lines than ways miss in every order; fitting lines may miss for other
/// reasons: a line lost to another cache, or a page of the program that takes a way of a TLB's set.
Outcome settle_again(std::vector<WaysSearch>& searches, const std::vector<std::size_t>& sets,
                     std::vector<Lines> lines_by_set, std::uint32_t first, const MissOracle& ask) {
  constexpr std::uint64_t rounds = 6;
  std::map<std::size_t, std::uint32_t> most;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const std::size_t set : sets) {
      searches[set] = {.lines = first};
      if (round > 0) lines_by_set[set] = shuffled(std::move(lines_by_set[set]), round);
    }
    if (settle_ways(searches, lines_by_set, first, ask) == Outcome::unseen) return Outcome::unseen;
    for (const std::size_t set : sets) most[set] = std::max(most[set], searches[set].ways);
  }
  for (const auto& [set, ways] : most) searches[set].ways = ways;
  return Outcome::settled;
}

/// Sets whose lines all fit get the ways of most other sets, less their co-resident lines. @returns
/// their number; nullopt if they are more than half, or if one holds more lines than these ways
std::optional<std::uint32_t> settle_short(std::vector<WaysSearch>& searches,
                                          const std::vector<std::uint32_t>& residents) {
  std::map<std::uint32_t, std::size_t> counts;
  for (std::size_t set = 0; set < searches.size(); ++set)
    if (!searches[set].is_short()) ++counts[searches[set].ways + residents[set]];
  const auto short_sets = static_cast<std::uint32_t>(
      std::ranges::count_if(searches, [](const WaysSearch& search) { return search.is_short(); }));
  if (2 * short_sets > searches.size()) return std::nullopt;
  const std::uint32_t usual =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
  for (std::size_t set = 0; set < searches.size(); ++set) {
    if (!searches[set].is_short()) continue;
    if (searches[set].ways + residents[set] > usual) return std::nullopt;
    searches[set].ways = usual - residents[set];
  }
  return short_sets;
}

}  // namespace

WaysBySet measure_ways(const IndexFunction& index, const LinePool& space,
                       const EvictionSet& conflict, const MissOracle& ask) {
  const auto first = static_cast<std::uint32_t>(conflict.ways() + 1);
  const std::vector<Lines> lines = lines_by_set(index, space, first + most_ways_apart);
  const std::size_t capacity = std::max<std::size_t>(conflict.fitting_lines, first);
  const std::vector<std::uint32_t> residents = count_residents(index, space);
  std::vector<WaysSearch> searches(index.sets, {.lines = first});
  if (!space.excluded.empty()) settle_taken_sets(searches, lines, index, residents, conflict);
  if (settle_ways(searches, lines, capacity, ask) == Outcome::unseen) return {};
  const bool may_be_taken = !space.co_resident.empty();
  if (!may_be_taken && std::ranges::find(searches, 0U, &WaysSearch::ways) != searches.end())
    return {};
  std::vector<std::size_t> smaller = find_few(searches, residents, std::less<>());
  const std::uint64_t home = set_of(index, conflict.lines.front());
  const bool home_looks_smaller = searches[home].ways < conflict.ways();
  if (home_looks_smaller && std::ranges::find(smaller, home) == smaller.end())
    smaller.push_back(home);
  std::erase_if(smaller,
                [&](std::size_t set) { return lines[set].empty() || searches[set].is_short(); });
  if (settle_again(searches, smaller, lines, first, ask) == Outcome::unseen) return {};
  const auto short_sets = settle_short(searches, residents);
  if (!short_sets) return {};
  settle_larger(searches, find_few(searches, residents, std::greater<>()), lines, ask);
  WaysBySet found{.ways = {}, .short_sets = *short_sets};
  for (const WaysSearch& search : searches) found.ways.push_back(search.ways);
  return found;
}

}  // namespace sonde
