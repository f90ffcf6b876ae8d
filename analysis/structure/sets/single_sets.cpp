// Each set is taken out of the pool with its lines, until what is left fits.
#include "analysis/structure/sets/single_sets.hpp"

#include "analysis/structure/sets/ways_per_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace sonde {
namespace {

// If there must be far more sets than can be looked for, some show how many ways they have.
constexpr std::size_t sample_of_sets = 12;
// The lines of these sets are few and seen one by one: a function that misses more is none.
constexpr double least_agreement = 0.995;

/// By number of the set.
struct SingleSets {
  std::vector<Lines> lines;         // the conflict's first
  std::vector<std::uint32_t> ways;  // left by co-resident lines
  std::string reason;               // why not all are found; empty: all are
};

SingleSets take_single_sets(const LinePool& space, Lines pool, const EvictionSet& first,
                            const MissOracle& ask) {
  SingleSets sets;
  const auto take = [&](const EvictionSet& conflict) {
    const std::vector<bool> is_member = find_members(conflict, pool, ask);
    Lines members;
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (is_member[i]) members.push_back(pool[i]);
    }
    sets.lines.push_back(with_conflict_first(conflict, members));
    sets.ways.push_back(static_cast<std::uint32_t>(conflict.ways()));
    for (std::uint64_t line : sets.lines.back()) std::erase(pool, line);
  };
  take(first);
  const std::size_t enough =
      space.cached_lines / first.ways() > 2 * most_single_sets ? sample_of_sets : most_single_sets;
  std::string no_conflict;
  while (const auto conflict = find_eviction_set_in_any_order(pool, ask, no_conflict)) {
    if (sets.ways.size() == enough) {
      sets.reason = fmt::format(
          "no function of the address puts lines into sets as seen, and "
          "there are more than {} sets to be looked for one by one",
          most_single_sets);
      return sets;
    }
    take(*conflict);
  }
  if (!pool.empty() && overflows(pool, ask)) {
    sets.reason = fmt::format("behind {} sets, {}", sets.ways.size(), no_conflict);
  }
  return sets;
}

/// How many of `co_resident` lie in the set of these lines, seen with other lines co-resident: each
/// takes the place of one of as many lines as fit then. nullopt if too few of the lines are known.
std::optional<std::uint32_t> count_in_set(const Lines& co_resident, Lines lines,
                                          const OtherCoResidents& other) {
  if (co_resident.empty()) return 0;
  const LinePool taken{.co_resident = other.co_resident, .excluded = other.excluded};
  std::erase_if(lines, [&](std::uint64_t line) { return is_taken(taken, line); });
  std::vector<Lines> prefixes;
  for (std::size_t length = 1; length <= lines.size(); ++length) {
    prefixes.push_back(slice(lines, 0, length));
  }
  const std::vector<bool> grown = overflow_once(prefixes, other.ask);
  const auto first = std::find(grown.begin(), grown.end(), true);
  if (first == grown.end()) return std::nullopt;
  lines.resize(static_cast<std::size_t>(first - grown.begin()));
  const std::vector<bool> in_set = overflow_with(lines, co_resident, other.ask);
  return static_cast<std::uint32_t>(std::count(in_set.begin(), in_set.end(), true));
}

/// Of each set, co-resident lines included. Empty if too few lines of a set are known.
std::vector<std::uint32_t> count_whole_ways(const LinePool& space, const SingleSets& sets,
                                            const std::optional<OtherCoResidents>& other) {
  std::vector<std::uint32_t> ways = sets.ways;
  for (std::size_t set = 0; other && set < ways.size(); ++set) {
    const auto more = count_in_set(space.co_resident, sets.lines[set], *other);
    if (!more) return {};
    ways[set] += *more;
  }
  return ways;
}

/// Checks the sets, and looks once more for a function, now that all are known.
void complete_layout(const LinePool& space, const SingleSets& sets, const MissOracle& ask,
                     SetLayout& found) {
  std::vector<PlacedLine> placed;
  std::map<std::uint64_t, std::uint32_t> set_of_known;
  for (std::uint32_t set = 0; set < sets.lines.size(); ++set) {
    for (std::uint64_t line : sets.lines[set]) {
      placed.push_back({.offset_bytes = line, .set = set});
      set_of_known[line] = set;
    }
  }
  const SetOfLine known_set = [&](std::uint64_t line) -> std::optional<std::uint64_t> {
    const auto known = set_of_known.find(line);
    return known == set_of_known.end() ? std::nullopt : std::optional(known->second);
  };
  const LayoutCheck check =
      check_ways(sets.ways, known_set, space, found.conflict->fitting_lines, ask);
  found.checked_sets = check.sets;
  found.agreement = check.agreement;
  found.index = fit_index_function(placed, space.line_bytes);
  if (found.index.kind != IndexKind::unresolved && found.index.agreement < least_agreement) {
    found.index.kind = IndexKind::unresolved;
    found.index.reason = "the best function puts some lines into other sets than was seen";
  }
  found.index.sets = static_cast<std::uint32_t>(sets.ways.size());
}

}  // namespace

Lines with_conflict_first(const EvictionSet& conflict, const Lines& members) {
  Lines lines = conflict.lines;
  for (std::uint64_t line : members) {
    if (std::find(conflict.lines.begin(), conflict.lines.end(), line) == conflict.lines.end()) {
      lines.push_back(line);
    }
  }
  return lines;
}

void find_single_sets(const LinePool& space, const Lines& pool, const MissOracle& ask,
                      const std::optional<OtherCoResidents>& other, SetLayout& found) {
  const SingleSets sets = take_single_sets(space, pool, *found.conflict, ask);
  std::vector<std::uint32_t> ways = count_whole_ways(space, sets, other);
  if (ways.empty()) {
    found.reason = "too few lines of a set are known to count the co-resident lines in it";
    return;
  }
  found.home_ways = ways.front();
  if (!sets.reason.empty()) {
    found.reason = sets.reason;
    found.seen_lines = pool.size();
    for (std::size_t set = 0; set < ways.size(); ++set) {
      found.seen_sets.push_back({.ways = ways[set], .members = sets.lines[set].size()});
    }
    return;
  }
  if (ways.size() == 1) {
    if (found.reason.empty()) found.reason = found.index.reason;
    return;
  }
  complete_layout(space, sets, ask, found);
  std::sort(ways.begin(), ways.end(), std::greater<>());
  found.ways_per_set = std::move(ways);
}

}  // namespace sonde
