// Searches for overfull sets.
#include "analysis/structure/sets/conflict_set.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sonde {
namespace {

// Orders in which the missing lines of an overfull prefix are looked at before lines are eliminated
// in chunks: enough for replacement in some order and for random victims in small sets.
constexpr std::uint64_t orders = 4;
// Where victims are drawn a chase shows a few lines of the set; so many chases show most of a wide
// one.
constexpr std::uint64_t most_glimpses = 48;
constexpr double least_new_share = 0.25;
constexpr int most_rounds = 12;
constexpr std::size_t first_chunks = 16;
// Lists of so many lines in all take half a minute on a GPU; 24 ways in 2048 sets (GTX 780) take
// fewer.
constexpr std::size_t most_listed = 8'000'000;
// Each line of a set is left out once, so more of them take the square of the time. Beyond, only a
// sample is.
constexpr std::size_t widest_set = 1024;
// A prefix that overflowed is asked so often again, and if it never does, so many times a longer
// one is looked for.
constexpr std::size_t confirmations = 2;
constexpr int most_searches = 8;
// With more slow hits than this in a pass, that every pass has one no longer means a miss.
constexpr double quiet = 0.2;

MissCounts ask_one(const Lines& lines, const MissOracle& ask) {
  return ask(std::span(&lines, 1)).front();
}

bool overflows(const Lines& lines, const MissOracle& ask) {
  return sonde::overflows(ask_one(lines, ask));
}

Lines prefix_of(const Lines& pool, std::size_t length) {
  return Lines(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(length));
}

/// Length of the shortest prefix that overflows, if all up to `fitting` fit; 0 if the whole pool
/// fits.
std::size_t find_overflowing_prefix(const Lines& pool, std::size_t fitting, const MissOracle& ask) {
  std::size_t overflowing = std::max<std::size_t>(2, fitting + 1);
  while (!overflows(prefix_of(pool, std::min(overflowing, pool.size())), ask)) {
    if (overflowing >= pool.size()) return 0;
    fitting = overflowing;
    overflowing *= 2;
  }
  overflowing = std::min(overflowing, pool.size());
  while (overflowing - fitting > 1) {
    const std::size_t middle = fitting + (overflowing - fitting) / 2;
    (overflows(prefix_of(pool, middle), ask) ? overflowing : fitting) = middle;
  }
  return overflowing;
}

/// The same, of a prefix that overflows when asked again: slow hits in every pass of a long chase
/// look like an overflow, but hardly twice.
std::size_t find_sure_prefix(const Lines& pool, const MissOracle& ask) {
  std::size_t fitting = 0;
  for (int search = 0; search < most_searches; ++search) {
    const std::size_t length = find_overflowing_prefix(pool, fitting, ask);
    if (length == 0) return 0;
    const Lines prefix = prefix_of(pool, length);
    const std::vector<MissCounts> again = ask(std::vector<Lines>(confirmations, prefix));
    if (std::any_of(again.begin(), again.end(),
                    [](const MissCounts& counts) { return sonde::overflows(counts); })) {
      return length;
    }
    fitting = length;
  }
  return fitting;
}

bool contains(const Lines& lines, std::uint64_t line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

Lines shuffled(Lines lines, std::uint64_t seed) {
  Random random(seed);
  shuffle(lines, random);
  return lines;
}

/// Lines of the overfull prefix that miss, in more and more orders of accesses, until they overflow
/// alone.
std::optional<Lines> collect_missing(const Lines& prefix, const MissOracle& ask) {
  std::set<std::uint64_t> missing{prefix.back()};
  for (std::uint64_t order = 0; order < orders; ++order) {
    const Lines walked = order == 0 ? prefix : shuffled(prefix, order);
    const MissCounts counts = ask_one(walked, ask);
    const std::size_t known = missing.size();
    for (std::size_t i = 0; i < walked.size(); ++i) {
      if (misses_again(counts, i)) missing.insert(walked[i]);
    }
    Lines lines(missing.begin(), missing.end());
    if (missing.size() > known && overflows(lines, ask)) return lines;
  }
  return std::nullopt;
}

/// Lines of the overfull prefix that missed at least once: of a set whose victims are drawn, and a
/// few slow hits. Walks go on as long as they show lines not seen before.
std::set<std::uint64_t> glimpse_missing(const Lines& prefix, const MissOracle& ask) {
  std::set<std::uint64_t> seen{prefix.back()};
  for (std::uint64_t order = 0; order < most_glimpses; ++order) {
    const Lines walked = shuffled(prefix, orders + order);
    const MissCounts counts = ask_one(walked, ask);
    std::size_t missing = 0;
    std::size_t added = 0;
    for (std::size_t i = 0; i < walked.size(); ++i) {
      if (counts.misses[i] == 0) continue;
      ++missing;
      added += seen.insert(walked[i]).second;
    }
    if (static_cast<double>(added) <= least_new_share * static_cast<double>(missing)) break;
  }
  return seen;
}

/// Slow hits in every pass look like an overflow, but hardly twice.
std::vector<bool> overflow_twice(const std::vector<Lines>& lists, const MissOracle& ask) {
  const std::vector<MissCounts> answers = ask(lists);
  std::vector<bool> twice;
  std::vector<Lines> again;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    twice.push_back(sonde::overflows(answers[i]));
    if (twice.back()) again.push_back(lists[i]);
  }
  if (again.empty()) return twice;
  const std::vector<MissCounts> second = ask(again);
  for (std::size_t i = 0, asked = 0; i < lists.size(); ++i) {
    if (twice[i]) twice[i] = sonde::overflows(second[asked++]);
  }
  return twice;
}

/// The lines in chunks of nearly one size.
std::vector<Lines> cut(const Lines& lines, std::size_t chunks) {
  const std::size_t length = (lines.size() + chunks - 1) / chunks;
  std::vector<Lines> parts;
  for (std::size_t first = 0; first < lines.size(); first += length) {
    const std::size_t behind = std::min(first + length, lines.size());
    parts.emplace_back(lines.begin() + static_cast<std::ptrdiff_t>(first),
                       lines.begin() + static_cast<std::ptrdiff_t>(behind));
  }
  return parts;
}

/// All lines but those of the chunks `first` to `behind` of a list of needless ones.
Lines without(const std::vector<Lines>& chunks, const std::vector<std::size_t>& needless,
              std::size_t first, std::size_t behind) {
  Lines rest;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const auto at = std::find(needless.begin() + static_cast<std::ptrdiff_t>(first),
                              needless.begin() + static_cast<std::ptrdiff_t>(behind), chunk);
    if (at != needless.begin() + static_cast<std::ptrdiff_t>(behind)) continue;
    rest.insert(rest.end(), chunks[chunk].begin(), chunks[chunk].end());
  }
  return rest;
}

Lines join(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

/// What is left without as many of the needless chunks as can go at once: where several sets are
/// overfull each chunk can go, but not all of them. nullopt if none can.
std::optional<Lines> drop_together(const std::vector<Lines>& chunks,
                                   const std::vector<std::size_t>& needless, const Lines& kept,
                                   const MissOracle& ask) {
  for (std::size_t count = needless.size(); count > 0; count /= 2) {
    std::vector<Lines> rests;
    std::vector<Lines> asked;
    for (std::size_t first = 0; first + count <= needless.size(); first += count) {
      Lines rest = without(chunks, needless, first, first + count);
      if (rest.size() + kept.size() < 2) continue;
      asked.push_back(join(rest, kept));
      rests.push_back(std::move(rest));
    }
    if (rests.empty()) continue;
    const std::vector<bool> overflowing = overflow_twice(asked, ask);
    const auto one = std::find(overflowing.begin(), overflowing.end(), true);
    if (one != overflowing.end()) {
      return std::move(rests[static_cast<std::size_t>(one - overflowing.begin())]);
    }
  }
  return std::nullopt;
}

/// Drops chunks of the lines that are not needed for them to overflow co_resident those kept, in
/// smaller and smaller chunks. Gives back all that are left; empty if the lines do not overflow
/// after all, or if that takes too long.
Lines eliminate(Lines lines, const Lines& kept, const MissOracle& ask) {
  std::size_t chunks = first_chunks;
  std::size_t listed = 0;
  while (!lines.empty()) {
    const std::vector<Lines> parts = cut(lines, chunks);
    listed += parts.size() * (lines.size() + kept.size());
    if (listed > most_listed) return {};
    std::vector<Lines> rests;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      rests.push_back(join(without(parts, {part}, 0, 1), kept));
    }
    const std::vector<bool> overflowing = overflow_twice(rests, ask);
    std::vector<std::size_t> needless;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (overflowing[part]) needless.push_back(part);
    }
    auto rest = drop_together(parts, needless, kept, ask);
    if (!rest && !overflows(join(lines, kept), ask)) return {};
    if (!rest && parts.size() == lines.size()) break;
    if (!rest || rest->size() > lines.size() / 2) chunks *= 2;
    if (rest) lines = std::move(*rest);
  }
  return join(std::move(lines), kept);
}

/// The lines of the prefix that are needed for it to overflow, and few others.
Lines narrow_down(const Lines& prefix, const MissOracle& ask) {
  const std::set<std::uint64_t> glimpsed = glimpse_missing(prefix, ask);
  const Lines kept(glimpsed.begin(), glimpsed.end());
  Lines others;
  for (std::uint64_t line : prefix) {
    if (!glimpsed.contains(line)) others.push_back(line);
  }
  return eliminate(std::move(others), kept, ask);
}

std::vector<Lines> each_left_out(const Lines& lines) {
  std::vector<Lines> lists;
  for (std::size_t out = 0; out < lines.size(); ++out) {
    Lines rest = lines;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
    lists.push_back(std::move(rest));
  }
  return lists;
}

/// Lines without which the others overflow as well.
std::vector<std::size_t> find_needless(const Lines& lines, const MissOracle& ask) {
  const std::vector<MissCounts> answers = ask(each_left_out(lines));
  std::vector<std::size_t> needless;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (sonde::overflows(answers[i])) needless.push_back(i);
  }
  return needless;
}

/// Drops every line without which the others overflow as well. Empty if that does not end in a set
/// all of whose lines are needed, twice.
Lines reduce(Lines lines, const MissOracle& ask) {
  for (int round = 0; round < most_rounds && lines.size() > 1; ++round) {
    std::vector<std::size_t> needless = find_needless(lines, ask);
    if (needless.empty()) needless = find_needless(lines, ask);
    if (needless.empty()) return overflows(lines, ask) ? lines : Lines{};
    // Two sets may be overfull, or one by two lines: then not all of these can go at once.
    Lines kept = lines;
    for (std::size_t i : needless) std::erase(kept, lines[i]);
    if (kept.size() < 2 || !overflows(kept, ask)) std::erase(kept = lines, lines[needless.back()]);
    lines = std::move(kept);
  }
  return {};
}

/// Whether each of some lines of the prefix is needed for it to overflow: then all of them make one
/// set. For prefixes that are too long to leave out each line once.
bool is_one_set(const Lines& prefix, const MissOracle& ask) {
  constexpr std::size_t samples = 48;
  if (prefix.size() <= widest_set) return false;
  std::vector<Lines> lists;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    lists.push_back(prefix);
    lists.back().erase(lists.back().begin() +
                       static_cast<std::ptrdiff_t>(sample * prefix.size() / samples));
  }
  const std::vector<MissCounts> answers = ask(lists);
  return std::none_of(answers.begin(), answers.end(),
                      [](const MissCounts& counts) { return sonde::overflows(counts); });
}

/// How a prefix that overflows, and of which no part does, does in other orders of accesses.
std::string explain_unsteady(const Lines& prefix, const MissOracle& ask) {
  constexpr std::uint64_t asked_orders = 8;
  std::vector<Lines> lists;
  for (std::uint64_t order = 1; order <= asked_orders; ++order) {
    lists.push_back(shuffled(prefix, order));
  }
  const std::vector<MissCounts> answers = ask(lists);
  const auto fitting = std::count_if(answers.begin(), answers.end(), [](const MissCounts& counts) {
    return !sonde::overflows(counts);
  });
  std::string text =
      fmt::format("{} lines overflow, but no smallest part of them does reliably", prefix.size());
  if (fitting > 0) {
    text += fmt::format(": in {} of {} other orders of visits they fit", fitting, asked_orders);
  }
  return text;
}

/// In a group some other set may have been overfull: each line found must miss alone as well.
void drop_unconfirmed(std::set<std::uint64_t>& found, const Lines& residents,
                      const MissOracle& ask) {
  // Sets so wide are few, and half of what fits overfills none of them.
  constexpr std::size_t wide_set = 64;
  if (residents.size() > wide_set) return;
  std::vector<Lines> lists;
  for (std::uint64_t line : found) {
    if (contains(residents, line)) continue;
    lists.push_back(residents);
    lists.back().push_back(line);
  }
  const std::vector<MissCounts> answers = ask(lists);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (!sonde::overflows(answers[i])) found.erase(lists[i].back());
  }
}

/// Where most candidates were found, the few others are asked alone: slow and soon accesses may
/// have excluded them in a group.
void add_overlooked(std::set<std::uint64_t>& found, const Lines& residents, const Lines& candidates,
                    const MissOracle& ask) {
  Lines others;
  for (std::uint64_t line : candidates) {
    if (!found.contains(line)) others.push_back(line);
  }
  if (4 * others.size() > candidates.size()) return;
  std::vector<Lines> lists;
  for (std::uint64_t line : others) {
    lists.push_back(residents);
    lists.back().push_back(line);
  }
  const std::vector<MissCounts> answers = ask(lists);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (sonde::overflows(answers[i])) found.insert(others[i]);
  }
}

}  // namespace

bool misses_again(const MissCounts& counts, std::size_t i) {
  return counts.misses[i] >= std::min(2u, counts.passes);
}

bool overflows(const MissCounts& counts) {
  if (4 * counts.passes_with_misses < 3 * counts.passes) return false;
  if (counts.outliers_per_pass <= quiet) return true;
  for (std::size_t i = 0; i < counts.misses.size(); ++i) {
    if (misses_again(counts, i)) return true;
  }
  return false;
}

std::optional<EvictionSet> find_eviction_set(const Lines& pool, const MissOracle& ask,
                                             std::string& reason) {
  if (pool.size() < 2) {
    reason = "too few lines to overfill a set";
    return std::nullopt;
  }
  const std::size_t length = find_sure_prefix(pool, ask);
  if (length == 0) {
    reason = fmt::format("all {} lines fit", pool.size());
    return std::nullopt;
  }
  const Lines prefix = prefix_of(pool, length);
  if (is_one_set(prefix, ask)) return EvictionSet{prefix, length - 1};
  const auto missing = collect_missing(prefix, ask);
  Lines lines = missing && missing->size() <= widest_set ? reduce(*missing, ask) : Lines{};
  if (lines.size() < 2) {
    lines = narrow_down(prefix, ask);
    lines = lines.size() <= widest_set ? reduce(std::move(lines), ask) : Lines{};
  }
  if (lines.size() < 2) {
    reason = explain_unsteady(prefix, ask);
    return std::nullopt;
  }
  return EvictionSet{std::move(lines), length - 1};
}

std::vector<bool> find_members(const EvictionSet& conflict, const Lines& candidates,
                               const MissOracle& ask) {
  const Lines residents = prefix_of(conflict.lines, conflict.ways());
  const std::size_t room = std::max(conflict.fitting_lines, conflict.ways()) / 2;
  const std::size_t group = std::max<std::size_t>(1, room);
  // Once behind the residents and once before them: some policies keep the first lines of a chase,
  // some the last.
  std::vector<Lines> lists;
  for (std::size_t first = 0; first < candidates.size(); first += group) {
    Lines behind = residents;
    for (std::size_t i = first; i < std::min(first + group, candidates.size()); ++i) {
      if (!contains(residents, candidates[i])) behind.push_back(candidates[i]);
    }
    lists.emplace_back(behind.rbegin(), behind.rend());
    lists.push_back(std::move(behind));
  }
  std::set<std::uint64_t> found(residents.begin(), residents.end());
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

}  // namespace sonde
