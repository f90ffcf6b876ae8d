// Interprets the misses of a chase, and builds lists of lines.
#include "analysis/structure/sets/miss_oracle.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde {

MissCounts count_misses_of(const std::vector<bool>& missed, std::size_t listed,
                           std::uint64_t passes) {
  const std::size_t length = missed.size() / passes;
  std::vector<std::uint32_t> misses(length);
  for (std::size_t at = 0; at < missed.size(); ++at) misses[at % length] += missed[at];
  MissCounts counts{.misses = misses, .passes = static_cast<std::uint32_t>(passes)};
  counts.misses.resize(listed);
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    bool missed_any = false;
    for (std::size_t position = 0; position < length && !missed_any; ++position) {
      missed_any = missed[pass * length + position] && (position < listed || misses[position] > 1);
    }
    counts.passes_with_misses += missed_any;
  }
  return counts;
}

bool misses_again(const MissCounts& counts, std::size_t i) {
  return counts.misses[i] >= std::min(2u, counts.passes);
}

bool overflows(const MissCounts& counts) {
  // If a pass has more outliers than this, a miss in every pass may be an outlier.
  constexpr double quiet = 0.2;
  if (4 * counts.passes_with_misses < 3 * counts.passes) return false;
  if (counts.outliers_per_pass <= quiet) return true;
  for (std::size_t i = 0; i < counts.misses.size(); ++i) {
    if (misses_again(counts, i)) return true;
  }
  // Under random replacement a line of a long list seldom misses twice. The misses come in addition
  // to the outliers, whose number varies by its square root.
  constexpr double surely = 3;  // standard deviations
  const double outliers = counts.outliers_per_pass * counts.passes;
  const auto misses = std::accumulate(counts.misses.begin(), counts.misses.end(), 0.0);
  return misses >= counts.passes + outliers + surely * std::sqrt(outliers);
}

bool overflows(const Lines& lines, const MissOracle& ask) {
  return !lines.empty() && overflows(ask(std::span(&lines, 1)).front());
}

std::vector<bool> overflow_once(const std::vector<Lines>& lists, const MissOracle& ask) {
  std::vector<bool> overflowing;
  for (const MissCounts& counts : ask(lists)) overflowing.push_back(overflows(counts));
  return overflowing;
}

std::vector<bool> overflow_with(const Lines& residents, const Lines& lines, const MissOracle& ask) {
  std::vector<Lines> lists;
  for (std::uint64_t line : lines) {
    lists.push_back(residents);
    lists.back().push_back(line);
  }
  return overflow_once(lists, ask);
}

std::vector<bool> overflow_twice(const std::vector<Lines>& lists, const MissOracle& ask) {
  std::vector<bool> overflowing = overflow_once(lists, ask);
  std::vector<Lines> again;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (overflowing[i]) again.push_back(lists[i]);
  }
  if (again.empty()) return overflowing;
  const std::vector<bool> second = overflow_once(again, ask);
  for (std::size_t i = 0, asked = 0; i < lists.size(); ++i) {
    if (overflowing[i]) overflowing[i] = second[asked++];
  }
  return overflowing;
}

bool any_misses(const MissCounts& counts) {
  constexpr double quiet = 0.2;  // outliers in a pass
  return overflows(counts) || (counts.outliers_per_pass <= quiet && counts.passes_with_misses > 0);
}

bool miss_in_most_orders(const Lines& lines, std::size_t count, const MissOracle& ask) {
  constexpr std::uint64_t orders = 12;
  std::vector<Lines> lists;
  for (std::uint64_t order = 1; order <= orders; ++order)
    lists.push_back(slice(shuffled(lines, order), 0, count));
  const auto missing = std::ranges::count_if(ask(lists), any_misses);
  return 2 * static_cast<std::uint64_t>(missing) > orders;
}

Lines slice(const Lines& lines, std::size_t first, std::size_t count) {
  const std::size_t behind = std::min(first + count, lines.size());
  return Lines(lines.begin() + static_cast<std::ptrdiff_t>(first),
               lines.begin() + static_cast<std::ptrdiff_t>(behind));
}

Lines shuffled(Lines lines, std::uint64_t seed) {
  Random random(seed);
  shuffle(lines, random);
  return lines;
}

bool set_overflows(const SetMisses& seen, const MissCounts& chase) {
  constexpr std::uint32_t fewest_lines = 4;
  const std::uint32_t passes = chase.passes;
  const std::uint32_t not_seen = passes >= 4 ? passes / 2 : 0;
  if (chase.passes_with_misses + not_seen < passes) return false;
  const bool once = seen.most_of_a_line == 1 && passes > 1 && seen.lines >= fewest_lines &&
                    seen.misses + 1 >= seen.lines;
  return !once && seen.misses >= std::max(2u, (3 * passes + 3) / 4);
}

}  // namespace sonde
