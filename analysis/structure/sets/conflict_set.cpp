// Finds a prefix of a pool that overflows, reduces it to one set, and finds other lines of the set.
#include "analysis/structure/sets/conflict_set.hpp"

#include "analysis/structure/sets/group_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sonde {
namespace {

/// Length of the shortest prefix that overflows; 0 if the pool fits. The first `fitting` lines fit.
std::size_t find_overflowing_prefix(const Lines& pool, std::size_t fitting, const MissOracle& ask) {
  std::size_t overflowing = std::max<std::size_t>(2, fitting + 1);
  while (!overflows(slice(pool, 0, overflowing), ask)) {
    if (overflowing >= pool.size()) return 0;
    fitting = overflowing;
    overflowing *= 2;
  }
  overflowing = std::min(overflowing, pool.size());
  while (overflowing - fitting > 1) {
    const std::size_t middle = fitting + (overflowing - fitting) / 2;
    (overflows(slice(pool, 0, middle), ask) ? overflowing : fitting) = middle;
  }
  return overflowing;
}

/// The same, but the prefix must overflow again when it is asked again: outliers in every pass of a
/// long chase look like an overflow, but seldom twice. If it does not, looks for a longer prefix.
std::size_t find_sure_prefix(const Lines& pool, const MissOracle& ask) {
  constexpr std::size_t confirmations = 2;
  constexpr int most_searches = 8;
  std::size_t fitting = 0;
  for (int search = 0; search < most_searches; ++search) {
    const std::size_t length = find_overflowing_prefix(pool, fitting, ask);
    if (length == 0) return 0;
    const auto again = overflow_once(std::vector(confirmations, slice(pool, 0, length)), ask);
    if (std::ranges::find(again, true) != again.end()) return length;
    fitting = length;
  }
  return fitting;
}

struct ConflictSearch {
  std::optional<EvictionSet> conflict;
  std::string reason;
  bool hangs_on_order = false;  // the lines overflow in this order of accesses alone
};

/// Number of other orders of accesses, out of `orders`, in which all lines fit.
std::ptrdiff_t count_fitting_orders(const Lines& lines, std::uint64_t orders,
                                    const MissOracle& ask) {
  std::vector<Lines> lists;
  for (std::uint64_t order = 1; order <= orders; ++order) lists.push_back(shuffled(lines, order));
  return std::ranges::count(overflow_once(lists, ask), false);
}

/// The prefix overflows, but no part of it does: says in how many other orders of accesses it fits.
ConflictSearch explain_unsteady(const Lines& prefix, const MissOracle& ask) {
  constexpr std::uint64_t asked_orders = 8;
  const auto fitting = count_fitting_orders(prefix, asked_orders, ask);
  std::string text = fmt::format(
      "{} lines overflow, but no smallest part was found that overflows reliably", prefix.size());
  if (fitting > 0) {
    text += fmt::format(": all of them fit in {} of {} other orders of accesses", fitting,
                        asked_orders);
  }
  return {{}, std::move(text), fitting == asked_orders};
}

/// Lines of one set, more than it has ways, overflow in every order of accesses. @returns the
/// reason for doubt if the lines fit in two or more of six orders; else an empty text.
std::string doubt_conflict(const Lines& lines, const MissOracle& ask) {
  constexpr std::uint64_t asked_orders = 6;
  constexpr std::ptrdiff_t allowed_outliers = 1;
  const auto fitting = count_fitting_orders(lines, asked_orders, ask);
  if (fitting <= allowed_outliers) return {};
  return fmt::format("{} lines overflow in one order of accesses, but fit in {} of {} others",
                     lines.size(), fitting, asked_orders);
}

ConflictSearch search_conflict(const Lines& pool, const MissOracle& ask) {
  if (pool.size() < 2) return {.conflict = {}, .reason = "too few lines to overfill a set"};
  const std::size_t length = find_sure_prefix(pool, ask);
  if (length == 0) return {.conflict = {}, .reason = fmt::format("all {} lines fit", pool.size())};
  const Lines prefix = slice(pool, 0, length);
  Lines lines = reduce_to_one_set(prefix, ask);
  if (lines.size() < 2) return explain_unsteady(prefix, ask);
  std::string doubt = doubt_conflict(lines, ask);
  if (!doubt.empty()) return {.conflict = {}, .reason = std::move(doubt)};
  return {.conflict = EvictionSet{.lines = std::move(lines), .fitting_lines = length - 1},
          .reason = {}};
}

/// In a group another set may have overflowed: each line must also miss alone with the residents.
void drop_unconfirmed(std::set<std::uint64_t>& found, const Lines& residents,
                      const MissOracle& ask) {
  // A cache with more ways than this has few sets, and half of the lines that fit overfill none.
  constexpr std::size_t most_ways = 64;
  if (residents.size() > most_ways) return;
  Lines lines(found.begin(), found.end());
  std::erase_if(lines, [&](std::uint64_t line) {
    return std::ranges::find(residents, line) != residents.end();
  });
  const std::vector<bool> confirmed = overflow_with(residents, lines, ask);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!confirmed[i]) found.erase(lines[i]);
  }
}

/// If most candidates are members, asks about each of the few others alone: in a group, earlier
/// accesses may have prevented their misses.
void add_overlooked(std::set<std::uint64_t>& found, const Lines& residents, const Lines& candidates,
                    const MissOracle& ask) {
  Lines others = candidates;
  std::erase_if(others, [&](std::uint64_t line) { return found.contains(line); });
  if (4 * others.size() > candidates.size()) return;
  const std::vector<bool> members = overflow_with(residents, others, ask);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (members[i]) found.insert(others[i]);
  }
}

}  // namespace

std::optional<EvictionSet> find_eviction_set(Lines pool, const MissOracle& ask,
                                             std::string& reason) {
  constexpr std::uint64_t orders = 3;
  ConflictSearch search = search_conflict(pool, ask);
  for (std::uint64_t order = 1; order < orders && !search.conflict && pool.size() > 1; ++order) {
    if (search.hangs_on_order || !overflows(pool, ask)) break;
    pool = shuffled(std::move(pool), order);
    search = search_conflict(pool, ask);
  }
  if (!search.conflict) reason = std::move(search.reason);
  return std::move(search.conflict);
}

std::vector<bool> find_members(const EvictionSet& conflict, const Lines& candidates,
                               const MissOracle& ask) {
  const Lines residents = slice(conflict.lines, 0, conflict.ways());
  std::set<std::uint64_t> found(residents.begin(), residents.end());
  const std::size_t capacity = std::max(conflict.fitting_lines, conflict.ways());
  const std::size_t group = std::max<std::size_t>(1, capacity / 2);
  // Ask with the residents first, and again with the residents last: some policies keep the first
  // lines of a chase, others the last.
  std::vector<Lines> lists;
  for (std::size_t first = 0; first < candidates.size(); first += group) {
    Lines behind = residents;
    for (std::size_t i = first; i < std::min(first + group, candidates.size()); ++i) {
      if (!found.contains(candidates[i])) behind.push_back(candidates[i]);
    }
    lists.emplace_back(behind.rbegin(), behind.rend());
    lists.push_back(std::move(behind));
  }
  const std::vector<MissCounts> answers = ask(lists);
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      if (misses_again(answers[list], i)) found.insert(lists[list][i]);
    }
  }
  drop_unconfirmed(found, residents, ask);
  add_overlooked(found, residents, candidates, ask);
  std::vector<bool> members;
  for (std::uint64_t line : candidates) members.push_back(found.contains(line));
  return members;
}

void sort_by_set(const EvictionSet& conflict, const Lines& lines, const MissOracle& ask,
                 Lines& members, Lines& others) {
  const std::vector<bool> is_member = find_members(conflict, lines, ask);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    (is_member[i] ? members : others).push_back(lines[i]);
  }
}

void find_overlooked(const EvictionSet& conflict, const MissOracle& ask, Lines& members,
                     Lines& others) {
  constexpr std::uint64_t most_rounds = 6;
  constexpr double worth_another =
      0.1;  // go on if a round adds more than this fraction of the known members
  for (std::uint64_t round = 1; round <= most_rounds; ++round) {
    const Lines left = shuffled(std::move(others), round);
    const std::size_t known = members.size();
    others.clear();
    sort_by_set(conflict, left, ask, members, others);
    const auto added = static_cast<double>(members.size() - known);
    if (added <= worth_another * static_cast<double>(known)) return;
  }
}

Lines with_conflict_first(const EvictionSet& conflict, const Lines& members) {
  Lines lines = conflict.lines;
  for (std::uint64_t line : members) {
    if (std::ranges::find(conflict.lines, line) == conflict.lines.end()) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace sonde
