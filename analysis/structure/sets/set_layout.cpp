// From one conflict to the layout of all sets: by a function of the address, else set by set.
#include "analysis/structure/sets/set_layout.hpp"

#include "analysis/structure/sets/single_sets.hpp"
#include "analysis/structure/sets/ways_per_set.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sonde {
namespace {

// Twice the address bits that can vary in a span: the rank of their differences is then certain.
constexpr std::size_t wanted_members = 64;
constexpr std::uint64_t fewest_candidates = 1024;
constexpr std::uint64_t most_candidates = 1 << 17;
// A function that is nearly right holds in few sets of other chases.
constexpr double least_checked_agreement = 0.9;

/// Sorts as many of the lines by the conflict's set as it takes to see enough of that set, and fits
/// a function to them.
void fit_function(const LinePool& space, const Lines& candidates, const MissOracle& ask,
                  SetLayout& found) {
  constexpr std::size_t at_once = 4096;
  const std::size_t wanted = std::max(wanted_members, found.conflict->ways() + 8);
  Lines members;
  std::vector<PlacedLine> others;
  for (std::size_t first = 0; first < candidates.size() && members.size() < wanted;
       first += at_once) {
    const Lines some = slice(candidates, first, at_once);
    const std::vector<bool> is_member = find_members(*found.conflict, some, ask);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (is_member[i]) members.push_back(some[i]);
      if (!is_member[i]) others.push_back({.offset_bytes = some[i], .set = other_set});
    }
  }
  found.members = with_conflict_first(*found.conflict, members);
  std::vector<PlacedLine> placed;
  for (std::uint64_t line : found.members) placed.push_back({.offset_bytes = line, .set = 0});
  placed.insert(placed.end(), others.begin(), others.end());
  found.index = fit_index_function(placed, space.line_bytes, space.origins);
}

/// The ways of all sets by the function, if they come out as seen. Empty with the reason if not.
std::vector<std::uint32_t> ways_by_function(const LinePool& space, const MissOracle& ask,
                                            SetLayout& found) {
  if (!can_number_sets(found.index)) return {};
  std::vector<std::uint32_t> ways = measure_ways(found.index, space, *found.conflict, ask);
  if (ways.empty()) {
    found.reason = "not every set showed its ways";
    return {};
  }
  if (ways[set_of(found.index, found.members.front())] != found.conflict->ways()) {
    found.reason = "by the function that fits one set, that set has other ways than seen";
    return {};
  }
  const SetOfLine by_function = [&](std::uint64_t line) { return set_of(found.index, line); };
  const LayoutCheck check =
      check_ways(ways, by_function, space, found.conflict->fitting_lines, ask);
  found.checked_sets = check.sets;
  found.agreement = check.agreement;
  if (found.checked_sets > 0 && found.agreement < least_checked_agreement) {
    found.reason = "other chases contradict the function that fits one set";
    return {};
  }
  return ways;
}

}  // namespace

std::uint64_t SetLayout::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count) {
  Lines lines;
  for (std::uint64_t line = 0; line < space.span_bytes && lines.size() < 4 * count;
       line += space.line_bytes) {
    if (set_of(index, line) == set && !is_taken(space, line)) lines.push_back(line);
  }
  lines = shuffled(std::move(lines), derive_seed(space.seed, "lines of a set"));
  lines.resize(std::min(count, lines.size()));
  return lines;
}

SetLayout find_set_layout(const LinePool& space, const MissOracle& ask,
                          const std::optional<OtherCoResidents>& other) {
  SetLayout found;
  const std::uint64_t pool_lines =
      std::clamp(4 * space.cached_lines, fewest_candidates, most_candidates);
  const Lines pool = choose_lines(space, pool_lines, derive_seed(space.seed, "pool"));
  found.conflict = find_eviction_set_in_any_order(pool, ask, found.reason);
  if (!found.conflict) return found;
  const std::uint64_t likely_sets =
      std::max<std::uint64_t>(1, space.cached_lines / found.conflict->ways());
  const std::uint64_t candidates =
      std::clamp(2 * wanted_members * likely_sets, pool_lines, most_candidates);
  fit_function(space, choose_lines(space, candidates, derive_seed(space.seed, "candidates")), ask,
               found);
  std::vector<std::uint32_t> ways = ways_by_function(space, ask, found);
  if (!ways.empty()) {
    for (std::uint64_t line : space.co_resident) ++ways[set_of(found.index, line)];
    found.home_ways = ways[set_of(found.index, found.members.front())];
    std::sort(ways.begin(), ways.end(), std::greater<>());
    found.ways_per_set = std::move(ways);
    return found;
  }
  found.home_ways = static_cast<std::uint32_t>(found.conflict->ways());
  const bool can_count_co_residents = space.co_resident.empty() || other;
  if (!can_count_co_residents || likely_sets > 4 * most_single_sets) {
    found.index.kind = IndexKind::unresolved;
    if (found.reason.empty()) found.reason = found.index.reason;
    return found;
  }
  find_single_sets(space, pool, ask, other, found);
  return found;
}

}  // namespace sonde
