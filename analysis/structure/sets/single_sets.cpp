// Takes set after set out of a pool until the rest fits.
#include "analysis/structure/sets/single_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sonde {
namespace {

/// True if most of the conflict's first three lines miss together with `ways` lines of the set.
bool is_in_set(const EvictionSet& conflict, const Lines& set, std::uint32_t ways,
               const MissOracle& ask) {
  constexpr std::size_t asked_lines = 3;
  std::vector<Lines> lists;
  for (const std::uint64_t line : slice(conflict.lines, 0, asked_lines)) {
    lists.push_back(slice(set, 0, ways));
    lists.back().push_back(line);
  }
  return 2 * static_cast<std::size_t>(std::ranges::count_if(ask(lists), any_misses)) > lists.size();
}

/// For each known set a list: as many of its lines as fit, and `line`.
std::vector<Lines> with_known_sets(std::uint64_t line, const SingleSets& sets) {
  std::vector<Lines> lists;
  for (std::size_t set = 0; set < sets.lines.size(); ++set) {
    lists.push_back(slice(sets.lines[set], 0, sets.ways[set]));
    lists.back().push_back(line);
  }
  return lists;
}

/// The known set in which the conflict lies, if any: with some policies a search in groups
/// overlooks members, which later form a conflict of their own. Asks about one line per set first;
/// under random replacement it may miss only now and then.
std::optional<std::size_t> find_known_set(const EvictionSet& conflict, const SingleSets& sets,
                                          const MissOracle& ask) {
  const std::vector<MissCounts> answers = ask(with_known_sets(conflict.lines.back(), sets));
  for (std::size_t set = 0; set < answers.size(); ++set) {
    if (!any_misses(answers[set])) continue;
    if (is_in_set(conflict, sets.lines[set], sets.ways[set], ask)) return set;
  }
  return std::nullopt;
}

/// True if the line misses in three rounds together with as many lines of some known set as fit.
bool is_in_some_set(std::uint64_t line, const SingleSets& sets, const MissOracle& ask) {
  constexpr int rounds = 3;  // an outlier does not repeat
  std::vector<Lines> lists = with_known_sets(line, sets);
  for (int round = 0; round < rounds && !lists.empty(); ++round) {
    const std::vector<MissCounts> answers = ask(lists);
    std::vector<Lines> missing;
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (any_misses(answers[i])) missing.push_back(std::move(lists[i]));
    lists = std::move(missing);
  }
  return !lists.empty();
}

/// True if most of the left-over lines, by a sample, lie in no known set: the pool has too few
/// lines of other sets to overfill them.
bool lie_elsewhere(const Lines& left_over, const SingleSets& sets, const MissOracle& ask) {
  constexpr std::size_t asked_lines = 8;
  const Lines asked = slice(left_over, 0, std::min(asked_lines, left_over.size()));
  const auto elsewhere = std::ranges::count_if(
      asked, [&](std::uint64_t line) { return !is_in_some_set(line, sets, ask); });
  return 2 * static_cast<std::size_t>(elsewhere) > asked.size();
}

/// Moves the conflict and all lines of its set from the pool to `sets`.
void take_set(const EvictionSet& conflict, Lines& pool, const MissOracle& ask, SingleSets& sets) {
  Lines members;
  Lines others;
  sort_by_set(conflict, pool, ask, members, others);
  const Lines taken = with_conflict_first(conflict, members);
  for (std::uint64_t line : taken) std::erase(pool, line);
  if (const auto known = find_known_set(conflict, sets, ask)) {
    Lines& lines = sets.lines[*known];
    lines.insert(lines.end(), taken.begin(), taken.end());
    return;
  }
  sets.lines.push_back(taken);
  sets.ways.push_back(static_cast<std::uint32_t>(conflict.ways()));
}

}  // namespace

SingleSets take_single_sets(Lines pool, const EvictionSet& first, const MissOracle& ask) {
  SingleSets sets;
  take_set(first, pool, ask, sets);
  std::string no_conflict;
  while (const auto conflict = find_eviction_set(pool, ask, no_conflict)) {
    if (sets.ways.size() == most_single_sets) {
      sets.reason = fmt::format(
          "no function of the address gives the measured sets, and there are more than {} sets, "
          "too many to search one by one",
          most_single_sets);
      return sets;
    }
    take_set(*conflict, pool, ask, sets);
  }
  if (!pool.empty() && overflows(pool, ask)) {
    sets.reason = fmt::format("after {} sets: {}", sets.ways.size(), no_conflict);
  }
  if (sets.reason.empty() && lie_elsewhere(pool, sets, ask)) {
    sets.reason = fmt::format(
        "some of the {} left-over lines lie in none of the {} sets found: the pool has too few "
        "lines of other sets",
        pool.size(), sets.ways.size());
  }
  return sets;
}

}  // namespace sonde
