// First the lines that miss are tried alone; where they do not show, lines are dropped in groups;
// then single lines are left out until each is needed.
#include "analysis/structure/sets/group_testing.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace sonde {
namespace {

// Orders in which the missing lines of an overfull prefix are looked at before lines are dropped in
// groups: enough for replacement in some order and for random replacement in small sets.
constexpr std::uint64_t orders = 4;
// Under random replacement a chase shows a few lines of the set; so many chases show most of one of
// many ways.
constexpr std::uint64_t most_glimpses = 48;
constexpr double least_new_share = 0.25;
constexpr int most_rounds = 12;
constexpr std::size_t first_groups = 16;
// Lists of so many lines in all take half a minute on a GPU; 24 ways in 2048 sets (GTX 780) take
// fewer.
constexpr std::size_t most_listed = 8'000'000;
// Each line of a set is left out once, so more of them take the square of the time.
constexpr std::size_t most_ways = 1024;

Lines join(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

/// Lines that miss, in more and more orders of accesses, until they overflow alone.
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

/// Lines that missed at least once: of a set under random replacement, and a few outliers. Chases
/// go on as long as they show lines not seen before.
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

/// The lines in groups of nearly one size.
std::vector<Lines> cut(const Lines& lines, std::size_t groups) {
  const std::size_t length = (lines.size() + groups - 1) / groups;
  std::vector<Lines> parts;
  for (std::size_t first = 0; first < lines.size(); first += length) {
    parts.push_back(slice(lines, first, length));
  }
  return parts;
}

/// All lines but those of some groups.
Lines without(const std::vector<Lines>& groups, std::span<const std::size_t> left_out) {
  Lines rest;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (std::ranges::find(left_out, group) == left_out.end()) {
      rest = join(std::move(rest), groups[group]);
    }
  }
  return rest;
}

/// Groups without which the others and the lines kept overflow.
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

/// What is left without as many of the needless groups as can go at once: where several sets are
/// overfull each group can go, but not all of them. All are tried together, then runs of half as
/// many, and so on down to single ones. nullopt if none can go.
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

/// Drops groups of the lines that are not needed for them to overflow together with those kept: in
/// smaller and smaller groups, down to single lines. Gives back all that are left; empty if the
/// lines do not overflow after all, or if that takes too long.
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
    // More groups than lines would never be, however often they are halved.
    if (rest->size() > lines.size() / 2) group_count = std::min(2 * group_count, lines.size());
    lines = std::move(*rest);
  }
  return join(std::move(lines), kept);
}

/// The lines that are needed to overflow, and few others.
Lines narrow_down(const Lines& prefix, const MissOracle& ask) {
  const std::set<std::uint64_t> glimpsed = glimpse_missing(prefix, ask);
  Lines others = prefix;
  std::erase_if(others, [&](std::uint64_t line) { return glimpsed.contains(line); });
  return drop_groups(std::move(others), Lines(glimpsed.begin(), glimpsed.end()), ask);
}

/// What is left without as many of the needless lines as can go at once: all, or, where one set is
/// overfull by several lines or several sets are, the first of them, found by bisection; at least
/// one.
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

/// The lines without which the others overflow as well.
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

/// Drops every line without which the others overflow as well. Empty if that does not end in a set
/// all of whose lines are needed, twice.
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
  constexpr std::size_t few_lines = 64;  // of which each can be left out, needed or not
  if (const auto missing = collect_missing(lines, ask)) {
    Lines set = drop_single_lines(*missing, ask);
    if (set.size() > 1) return set;
  }
  Lines set = drop_single_lines(narrow_down(lines, ask), ask);
  if (set.size() > 1 || lines.size() > few_lines) return set;
  return drop_single_lines(lines, ask);
}

}  // namespace sonde
