// Tries the missing lines alone first. If they do not overflow, drops lines in groups, and then
// single lines until each one is needed.
#include "analysis/structure/sets/group_testing.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace sonde {
namespace {

// Number of orders in which the missing lines are collected before lines are dropped in groups.
// Suffices if the replacement follows an order, or is random in small sets.
constexpr std::uint64_t orders = 4;
// Under random replacement one chase shows a few lines of the set; this number of chases shows most
// lines of a set of many ways.
constexpr std::uint64_t most_glimpses = 48;
constexpr double least_new_share = 0.25;
constexpr int most_rounds = 12;
constexpr std::size_t first_groups = 16;
// Limits the sum of the lengths of all lists: this many take half a minute on a GPU. 24 ways in
// 2048 sets (GTX 780) need fewer.
constexpr std::size_t most_listed = 8'000'000;
// Each line of a set is left out once, so the time grows with the square of this number.
constexpr std::size_t most_ways = 1024;

Lines join(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

/// Collects lines that miss in several orders of accesses, until they overflow alone.
std::optional<Lines> collect_missing(const Lines& prefix, const MissOracle& ask) {
  std::set<std::uint64_t> missing{prefix.back()};
  for (std::uint64_t order = 0; order < orders; ++order) {
    const Lines chased = order == 0 ? prefix : shuffled(prefix, order);
    const MissCounts counts = ask(std::span(&chased, 1)).front();
    const std::size_t known = missing.size();
    for (std::size_t i = 0; i < chased.size(); ++i) {
      if (misses_again(counts, i)) missing.insert(chased[i]);
    }
    Lines lines(missing.begin(), missing.end());
    if (missing.size() > known && overflows(lines, ask)) return lines;
  }
  return std::nullopt;
}

/// Lines that missed at least once: lines of a set under random replacement, and a few outliers.
/// Chases as long as new lines appear.
std::set<std::uint64_t> glimpse_missing(const Lines& prefix, const MissOracle& ask) {
  std::set<std::uint64_t> seen{prefix.back()};
  for (std::uint64_t order = 0; order < most_glimpses; ++order) {
    const Lines chased = shuffled(prefix, orders + order);
    const MissCounts counts = ask(std::span(&chased, 1)).front();
    std::size_t missing = 0;
    std::size_t added = 0;
    for (std::size_t i = 0; i < chased.size(); ++i) {
      if (counts.misses[i] == 0) continue;
      ++missing;
      added += seen.insert(chased[i]).second;
    }
    if (static_cast<double>(added) <= least_new_share * static_cast<double>(missing)) break;
  }
  return seen;
}

/// Cuts the lines into groups of nearly equal size.
std::vector<Lines> cut(const Lines& lines, std::size_t groups) {
  const std::size_t length = (lines.size() + groups - 1) / groups;
  std::vector<Lines> parts;
  for (std::size_t first = 0; first < lines.size(); first += length) {
    parts.push_back(slice(lines, first, length));
  }
  return parts;
}

/// All lines except those of the groups `left_out`.
Lines without(const std::vector<Lines>& groups, std::span<const std::size_t> left_out) {
  Lines rest;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (std::ranges::find(left_out, group) == left_out.end()) {
      rest = join(std::move(rest), groups[group]);
    }
  }
  return rest;
}

/// Groups that are not needed: all other groups and the lines `kept` still overflow.
std::vector<std::size_t> needless_groups(const std::vector<Lines>& groups, const Lines& kept,
                                         const MissOracle& ask) {
  std::vector<Lines> lists;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    lists.push_back(join(without(groups, std::span(&group, 1)), kept));
  }
  const std::vector<bool> overflowing = overflow_twice(lists, ask);
  std::vector<std::size_t> needless;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (overflowing[group]) needless.push_back(group);
  }
  return needless;
}

/// Drops as many of the needless groups as possible at once. If several sets are overfull, each
/// group alone can go, but not all together: tries all groups, then runs of half as many, and so on
/// down to single groups. nullopt if no group can go.
std::optional<Lines> drop_at_once(const std::vector<Lines>& groups,
                                  std::span<const std::size_t> needless, const Lines& kept,
                                  const MissOracle& ask) {
  for (std::size_t run = needless.size(); run > 0; run /= 2) {
    std::vector<Lines> rests;
    std::vector<Lines> lists;
    for (std::size_t first = 0; first + run <= needless.size(); first += run) {
      Lines rest = without(groups, needless.subspan(first, run));
      if (rest.size() + kept.size() < 2) continue;
      lists.push_back(join(rest, kept));
      rests.push_back(std::move(rest));
    }
    if (rests.empty()) continue;
    const std::vector<bool> overflowing = overflow_twice(lists, ask);
    const auto first = std::ranges::find(overflowing, true);
    if (first != overflowing.end()) {
      return std::move(rests[static_cast<std::size_t>(first - overflowing.begin())]);
    }
  }
  return std::nullopt;
}

/// Drops groups of lines that are not needed to overflow together with `kept`, in smaller and
/// smaller groups down to single lines. @returns all lines that are left; empty if they do not
/// overflow, or if the search takes too long
Lines drop_groups(Lines lines, const Lines& kept, const MissOracle& ask) {
  std::size_t group_count = first_groups;
  std::size_t listed = 0;
  while (!lines.empty()) {
    const std::vector<Lines> groups = cut(lines, group_count);
    listed += groups.size() * (lines.size() + kept.size());
    if (listed > most_listed) return {};
    auto rest = drop_at_once(groups, needless_groups(groups, kept, ask), kept, ask);
    if (!rest) {
      if (!overflows(join(lines, kept), ask)) return {};
      if (groups.size() == lines.size()) break;
      group_count = std::min(2 * group_count, lines.size());
      continue;
    }
    if (rest->size() > lines.size() / 2) group_count = std::min(2 * group_count, lines.size());
    lines = std::move(*rest);
  }
  return join(std::move(lines), kept);
}

/// Few lines, among them all that are needed to overflow.
Lines narrow_down(const Lines& prefix, const MissOracle& ask) {
  const std::set<std::uint64_t> glimpsed = glimpse_missing(prefix, ask);
  Lines others = prefix;
  std::erase_if(others, [&](std::uint64_t line) { return glimpsed.contains(line); });
  return drop_groups(std::move(others), Lines(glimpsed.begin(), glimpsed.end()), ask);
}

/// Drops as many of the needless lines as possible at once: all of them, or (if several lines of a
/// set or several sets are too many) the first ones, found by bisection; at least one.
Lines drop_together(const Lines& lines, const Lines& needless, const MissOracle& ask) {
  const auto without_first = [&](std::size_t count) {
    const std::set<std::uint64_t> dropped(needless.begin(),
                                          needless.begin() + static_cast<std::ptrdiff_t>(count));
    Lines rest = lines;
    std::erase_if(rest, [&](std::uint64_t line) { return dropped.contains(line); });
    return rest;
  };
  std::size_t can_go = 1;
  std::size_t too_many = needless.size() + 1;
  for (std::size_t tried = needless.size(); tried > can_go; tried = (can_go + too_many) / 2) {
    const Lines rest = without_first(tried);
    (rest.size() > 1 && overflows(rest, ask) ? can_go : too_many) = tried;
  }
  return without_first(can_go);
}

/// The lines without any one of which the others still overflow.
Lines find_needless(const Lines& lines, const MissOracle& ask) {
  std::vector<Lines> lists(lines.size(), lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    lists[i].erase(lists[i].begin() + static_cast<std::ptrdiff_t>(i));
  const std::vector<bool> overflowing = overflow_twice(lists, ask);
  Lines needless;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (overflowing[i]) needless.push_back(lines[i]);
  }
  return needless;
}

/// Drops every line that is not needed to overflow. Empty if the rounds do not end with lines that
/// are all needed, as confirmed twice.
Lines drop_single_lines(Lines lines, const MissOracle& ask) {
  if (lines.size() > most_ways) return {};
  for (int round = 0; round < most_rounds && lines.size() > 1; ++round) {
    Lines needless = find_needless(lines, ask);
    if (needless.empty()) needless = find_needless(lines, ask);
    if (needless.empty()) return overflows(lines, ask) ? lines : Lines{};
    lines = drop_together(lines, needless, ask);
  }
  return {};
}

}  // namespace

Lines reduce_to_one_set(const Lines& lines, const MissOracle& ask) {
  constexpr std::size_t few_lines = 64;  // for so few lines, try to leave out each one
  if (const auto missing = collect_missing(lines, ask)) {
    Lines set = drop_single_lines(*missing, ask);
    if (set.size() > 1) return set;
  }
  Lines set = drop_single_lines(narrow_down(lines, ask), ask);
  if (set.size() > 1 || lines.size() > few_lines) return set;
  return drop_single_lines(lines, ask);
}

}  // namespace sonde
