// From one conflict to the layout of all sets: by an index function, or else set by set.
#include "analysis/structure/sets/set_layout.hpp"

#include "analysis/structure/index/index_search.hpp"
#include "analysis/structure/sets/layout_check.hpp"
#include "analysis/structure/sets/single_sets.hpp"
#include "analysis/structure/sets/ways_per_set.hpp"
#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace sonde {
namespace {

// Twice the number of address bits that vary in a span: enough for the rank of their differences.
constexpr std::size_t fewest_members = 64;
constexpr std::uint64_t fewest_candidates = 1024;
constexpr std::uint64_t most_candidates = 1 << 17;
// If fewer sets of new chases behave as predicted, the function is wrong.
constexpr double least_checked_agreement = 0.9;
// Here the set of every line was seen: the function must explain nearly all lines.
constexpr double least_agreement = 0.995;

/// Finds lines of more sets if one set has too few for a function (a cache of few ways in a small
/// span). Ends with enough lines beyond the first line of each set.
void place_more_sets(const MissOracle& ask, Lines& others, std::vector<PlacedLine>& placed) {
  constexpr std::uint32_t fewest_sets = 2;
  constexpr std::uint32_t most_sets = 16;
  // One for each address bit that varies, and some more to confirm the function.
  constexpr std::size_t enough_lines = 32;
  std::size_t lines = placed.size() - 1;
  std::string no_conflict;
  for (std::uint32_t set = 1; set <= most_sets; ++set) {
    if (set > fewest_sets && lines >= enough_lines) return;
    const auto conflict = find_eviction_set(others, ask, no_conflict);
    if (!conflict) return;
    Lines members;
    const Lines candidates = std::exchange(others, {});
    sort_by_set(*conflict, candidates, ask, members, others);
    members = with_conflict_first(*conflict, members);
    for (std::uint64_t line : members) {
      placed.push_back({.offset_bytes = line, .set = set});
      std::erase(others, line);
    }
    lines += members.size() - 1;
  }
}

/// Sorts candidates until enough members of the conflict's set are known; fits a function to them
/// and to lines of other sets.
void fit_function(const LinePool& space, const Lines& candidates, const MissOracle& ask,
                  SetLayout& found) {
  constexpr std::size_t at_once = 4096;
  constexpr std::size_t few_members = 12;
  const EvictionSet& conflict = *found.conflict;
  const std::size_t wanted = std::max(fewest_members, conflict.ways() + 8);
  Lines members;
  Lines others;
  for (std::size_t first = 0; first < candidates.size() && members.size() < wanted;
       first += at_once) {
    sort_by_set(conflict, slice(candidates, first, at_once), ask, members, others);
  }
  if (members.size() < wanted) find_overlooked(conflict, ask, members, others);
  found.members = with_conflict_first(conflict, members);
  std::vector<PlacedLine> placed;
  for (std::uint64_t line : found.members) placed.push_back({.offset_bytes = line, .set = 0});
  if (members.size() < few_members) place_more_sets(ask, others, placed);
  for (std::uint64_t line : others) placed.push_back({.offset_bytes = line, .set = other_set});
  found.index = fit_index_function(placed, space.line_bytes, space.buffer_address);
}

/// The ways of all sets by the function; empty, with the reason, if measured ways contradict it.
std::vector<std::uint32_t> ways_by_function(const LinePool& space, const MissOracle& ask,
                                            SetLayout& found) {
  if (!can_number_sets(found.index)) return {};
  const WaysBySet by_set = measure_ways(found.index, space, *found.conflict, ask);
  const std::vector<std::uint32_t>& ways = by_set.ways;
  if (ways.empty()) {
    found.reason = "the ways of some sets could not be measured";
    return {};
  }
  // If inner levels lie in front, the smallest list that surely overflows may have one or two lines
  // more than the set has ways: some policies keep one more line now and then.
  const std::size_t most_more = space.co_resident.empty() ? 0 : 2;
  const std::uint32_t home = ways[set_of(found.index, found.members.front())];
  if (home > found.conflict->ways() || home + most_more < found.conflict->ways()) {
    found.reason = "the function gives the set other ways than measured";
    return {};
  }
  const SetOfLine by_function = [&](std::uint64_t line) { return set_of(found.index, line); };
  found.checked = check_ways(ways, by_function, space, found.conflict->fitting_lines, ask);
  if (found.checked.asked > 0 && found.checked.share() < least_checked_agreement) {
    found.reason = "other chases contradict the function that fits one set";
    return {};
  }
  const std::uint64_t first = set_of(found.index, found.members.front());
  if (!others_show_their_ways(found.index, space, ways, first, most_more, ask)) {
    found.reason = "the function joins or splits other sets";
    return {};
  }
  found.short_sets = by_set.short_sets;
  return ways;
}

/// Counts the co-resident lines that lie in the set of `lines`. With the other lines co-resident,
/// fills the set with `lines`, and adds each co-resident line to see if the set overflows. nullopt
/// if too few of the lines may be accessed.
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
  const auto first = std::ranges::find(grown, true);
  if (first == grown.end()) return std::nullopt;
  lines.resize(static_cast<std::size_t>(first - grown.begin()));
  const std::vector<bool> in_set = overflow_with(lines, co_resident, other.ask);
  return static_cast<std::uint32_t>(std::ranges::count(in_set, true));
}

/// Ways of each set, co-resident lines included. Empty, with the reason, if too few lines of a set
/// are known, or if more co-resident lines were counted than exist: then another set overflowed.
std::vector<std::uint32_t> count_whole_ways(const LinePool& space, const SingleSets& sets,
                                            const std::optional<OtherCoResidents>& other,
                                            std::string& reason) {
  std::vector<std::uint32_t> ways = sets.ways;
  std::uint64_t counted = 0;
  for (std::size_t set = 0; other && set < ways.size(); ++set) {
    const auto more = count_in_set(space.co_resident, sets.lines[set], *other);
    if (!more) {
      reason = "too few lines of a set are known to count the co-resident lines in it";
      return {};
    }
    ways[set] += *more;
    counted += *more;
  }
  if (counted > space.co_resident.size()) {
    reason = fmt::format("{} co-resident lines were counted in all sets, but there are only {}",
                         counted, space.co_resident.size());
    return {};
  }
  return ways;
}

/// Checks the sets, and tries once more to fit a function, now to lines of all sets.
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
  found.checked = check_ways(sets.ways, known_set, space, found.conflict->fitting_lines, ask);
  found.index = fit_index_function(placed, space.line_bytes, space.buffer_address);
  if (found.index.kind != IndexKind::unresolved && found.index.agreement < least_agreement) {
    found.index.kind = IndexKind::unresolved;
    found.index.reason = "the best function puts some lines into other sets than measured";
  }
  found.index.sets = static_cast<std::uint32_t>(sets.ways.size());
}

/// Finds set after set in the pool, and completes the layout with them; or gives the reason why
/// this is not possible. @pre found.conflict was found in this pool
void find_single_sets(const LinePool& space, const Lines& pool, const MissOracle& ask,
                      const std::optional<OtherCoResidents>& other, SetLayout& found) {
  const std::string no_function = found.reason.empty() ? found.index.reason : found.reason;
  const SingleSets sets = take_single_sets(pool, *found.conflict, ask);
  std::vector<std::uint32_t> ways = count_whole_ways(space, sets, other, found.reason);
  if (ways.empty()) {
    found.reason = fmt::format("{}; set by set: {}", no_function, found.reason);
    return;
  }
  found.home_ways = ways.front();
  if (!sets.reason.empty()) {
    found.reason = sets.reason;
    return;
  }
  if (ways.size() == 1) {
    if (found.reason.empty()) found.reason = found.index.reason;
    return;
  }
  complete_layout(space, sets, ask, found);
  std::ranges::sort(ways, std::greater<>());
  found.ways_per_set = std::move(ways);
}

/// Size of a pool in which some set surely overflows, unless sets are very large.
std::uint64_t enough_candidates(const LinePool& space) {
  return std::clamp(4 * space.cached_lines, fewest_candidates, most_candidates);
}

}  // namespace

std::uint64_t SetLayout::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

SetLayout find_set_layout(const LinePool& space, const MissOracle& ask,
                          const std::optional<OtherCoResidents>& other) {
  const Lines pool = choose_lines(space, enough_candidates(space), derive_seed(space.seed, "pool"));
  SetLayout found;
  found.conflict = find_eviction_set(pool, ask, found.reason);
  if (!found.conflict) return found;
  const std::uint64_t likely_sets =
      std::max<std::uint64_t>(1, space.cached_lines / found.conflict->ways());
  const std::uint64_t candidates =
      std::clamp(2 * fewest_members * likely_sets, enough_candidates(space), most_candidates);
  fit_function(space, choose_lines(space, candidates, derive_seed(space.seed, "candidates")), ask,
               found);
  std::vector<std::uint32_t> ways = ways_by_function(space, ask, found);
  if (!ways.empty()) {
    for (std::uint64_t line : space.co_resident) ++ways[set_of(found.index, line)];
    found.home_ways = ways[set_of(found.index, found.members.front())];
    std::ranges::sort(ways, std::greater<>());
    found.ways_per_set = std::move(ways);
    return found;
  }
  found.home_ways = static_cast<std::uint32_t>(found.conflict->ways());
  const bool can_count_co_residents = space.co_resident.empty() || other;
  if (!can_count_co_residents || likely_sets > most_single_sets) {
    found.index.kind = IndexKind::unresolved;
    if (found.reason.empty()) found.reason = found.index.reason;
    return found;
  }
  find_single_sets(space, pool, ask, other, found);
  return found;
}

void even_out(SetLayout& layout) {
  constexpr std::size_t very_many = 64;
  constexpr std::size_t few = 2;
  std::vector<std::uint32_t>& ways = layout.ways_per_set;
  if (ways.size() < very_many) return;
  const std::uint32_t usual = ways.front();
  const auto smaller = std::ranges::find(ways, usual - 1);
  const auto count = static_cast<std::size_t>(ways.end() - smaller);
  if (count == 0 || count > few || ways.back() != usual - 1 || *(smaller - 1) != usual) return;
  std::fill(smaller, ways.end(), usual);
  layout.smaller_sets = static_cast<std::uint32_t>(count);
}

}  // namespace sonde
