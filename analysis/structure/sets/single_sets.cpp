// Set after set out of a pool, until what is left fits.
#include "analysis/structure/sets/single_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace sonde {
namespace {

// If there must be far more sets than can be looked for, some show how many ways they have.
constexpr std::size_t sample_of_sets = 12;

/// Whether most of a few lines of the conflict overflow a known set.
bool is_in_set(const EvictionSet& conflict, const Lines& set, std::uint32_t ways,
               const MissOracle& ask) {
  constexpr std::size_t asked_lines = 3;
  const std::vector<bool> members =
      overflow_with(slice(set, 0, ways), slice(conflict.lines, 0, asked_lines), ask);
  return 2 * std::ranges::count(members, true) > static_cast<std::ptrdiff_t>(members.size());
}

/// The known set that the conflict lies in: some policies hide members from a search in groups, and
/// those left in the pool make a conflict of their own. Of each set one line is asked first.
std::optional<std::size_t> find_known_set(const EvictionSet& conflict, const SingleSets& sets,
                                          const MissOracle& ask) {
  std::vector<Lines> lists;
  for (std::size_t set = 0; set < sets.lines.size(); ++set) {
    lists.push_back(slice(sets.lines[set], 0, sets.ways[set]));
    lists.back().push_back(conflict.lines.back());
  }
  const std::vector<bool> overflowing = overflow_once(lists, ask);
  for (std::size_t set = 0; set < lists.size(); ++set) {
    if (overflowing[set] && is_in_set(conflict, sets.lines[set], sets.ways[set], ask)) return set;
  }
  return std::nullopt;
}

/// Adds the conflict and all lines of the pool that share its set, and takes them from the pool.
void take_set(const EvictionSet& conflict, Lines& pool, const MissOracle& ask, SingleSets& sets) {
  const std::vector<bool> is_member = find_members(conflict, pool, ask);
  Lines members;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (is_member[i]) members.push_back(pool[i]);
  }
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

SingleSets take_single_sets(const LinePool& space, Lines pool, const EvictionSet& first,
                            const MissOracle& ask) {
  SingleSets sets;
  take_set(first, pool, ask, sets);
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
    take_set(*conflict, pool, ask, sets);
  }
  if (!pool.empty() && overflows(pool, ask)) {
    sets.reason = fmt::format("behind {} sets, {}", sets.ways.size(), no_conflict);
  }
  return sets;
}

}  // namespace sonde
