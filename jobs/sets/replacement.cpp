// Records chases that every policy answers differently and, for random replacement, cyclic chases.
// analysis/structure/replacement matches the records of each set; the fits are combined here.
#include "jobs/sets/search.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

bool has_numbered_sets(const SetLayout& layout) {
  return layout.resolved() && layout.index.kind != IndexKind::unresolved;
}

/// Lines of one set, as many as chases that distinguish policies need.
Lines lines_to_record(const SetFindings& found, std::uint64_t set) {
  const std::uint32_t ways = found.layout.home_ways;
  const std::size_t wanted = policy_trace_lines(ways);
  if (has_numbered_sets(found.layout)) {
    return choose_far_apart(
        lines_of_set(found.layout.index, found.pool, set, candidates_of_a_line * wanted), wanted);
  }
  Lines lines = found.layout.members;
  lines.resize(std::min(lines.size(), wanted));
  return lines;
}

using Orders = std::vector<std::vector<std::uint16_t>>;

/// Four chases; more and shorter ones if a launch records few accesses.
Orders policy_orders(const SetsProbe& probe, std::uint32_t ways, std::size_t longest) {
  constexpr std::size_t fewest_traces = 4;
  constexpr std::size_t most_traces = 64;
  const std::size_t accesses =
      std::clamp<std::size_t>(std::size_t{40} * ways, 1000, probe.traits().most_accesses);
  const std::size_t length = std::min(longest, accesses);
  Orders orders(std::clamp(fewest_traces * accesses / length, fewest_traces, most_traces));
  for (std::size_t i = 0; i < orders.size(); ++i) {
    orders[i] =
        policy_trace(ways, length, derive_seed(probe.pool().seed, fmt::format("policy {}", i)));
  }
  return orders;
}

/// Short chases, so that an outlier that looks like a miss spoils little.
Orders cyclic_orders(std::uint32_t ways, std::size_t longest) {
  constexpr std::size_t wanted_accesses = 16000;
  constexpr std::size_t least_victims = 300;
  const std::size_t length = std::min(longest, std::max<std::size_t>(256, std::size_t{12} * ways));
  // A set of many ways loses about two lines in each round.
  const std::size_t for_least = least_victims * (ways + 1) / 2 / length;
  const std::size_t count = std::max({std::size_t{4}, wanted_accesses / length, for_least});
  return Orders(count, cyclic_trace(ways, length));
}

ReplacementFit match_lines(SetsProbe& probe, const Lines& lines, const Lines& access_evictors,
                           std::uint32_t ways) {
  const std::size_t longest = probe.longest_record(access_evictors.size());
  const std::vector<AccessRecord> policy_records =
      probe.record(lines, access_evictors, policy_orders(probe, ways, longest));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty() || !probe.is_clear()) return fit;
  return match_replacement(ways, policy_records,
                           probe.record(lines, access_evictors, cyclic_orders(ways, longest)));
}

/// Some sets other than `home`.
std::vector<std::uint64_t> sets_to_compare(const SetsProbe& probe, std::uint32_t sets,
                                           std::uint64_t home) {
  std::vector<std::uint64_t> others;
  for (std::uint64_t set = 0; set < std::min(sets, probe.traits().compared_sets); ++set) {
    if (set != home) others.push_back(set);
  }
  if (others.empty()) others.push_back(sets - 1);
  return others;
}

/// nullopt, with the reason in `reason`, if too few lines of the set are known or nothing evicts
/// them from the inner levels.
std::optional<ReplacementFit> match_set(SetsProbe& probe, const SetFindings& found,
                                        std::uint64_t set, std::string& reason) {
  const std::uint32_t ways = found.layout.home_ways;
  const Lines lines = lines_to_record(found, set);
  if (lines.size() < policy_trace_lines(ways)) {
    reason = fmt::format("fewer than {} lines of a set are known, too few for chases over it alone",
                         policy_trace_lines(ways));
    return std::nullopt;
  }
  const auto access_evictors = probe.find_access_evictors(found, lines);
  if (!access_evictors) {
    reason =
        "too few lines of other sets are known to evict the lines of one set from the inner levels";
    return std::nullopt;
  }
  return match_lines(probe, lines, *access_evictors, ways);
}

}  // namespace

ReplacementFit measure_replacement(SetsProbe& probe, const SetFindings& found) {
  const SetLayout& layout = found.layout;
  const bool numbered = has_numbered_sets(layout);
  const std::uint64_t home = numbered ? set_of(layout.index, layout.members.front()) : 0;
  ReplacementFit none;
  const auto first = match_set(probe, found, home, none.reason);
  if (!first) return none;
  std::vector<ReplacementFit> fits{*first};
  // Sets with another number of ways would need chases of their own.
  if (numbered && layout.index.sets > 1 &&
      layout.ways_per_set.front() == layout.ways_per_set.back()) {
    for (std::uint64_t set : sets_to_compare(probe, layout.index.sets, home)) {
      auto fit = match_set(probe, found, set, none.reason);
      if (fit) fits.push_back(std::move(*fit));
    }
  }
  return combine_sets(fits);
}

}  // namespace sonde
