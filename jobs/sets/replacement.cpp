// Chases that every policy would answer differently, then, where victims are chosen at random,
// cyclic ones.
#include "jobs/sets/replacement.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

bool has_numbered_sets(const SetLayout& layout) {
  return layout.resolved() && layout.index.kind != IndexKind::unresolved;
}

/// Lines of one set, enough for chases that tell policies apart.
Lines lines_to_record(const SetsProbe& probe, const SetFindings& found, std::uint64_t set) {
  const std::size_t wanted = policy_trace_lines(found.layout.home_ways);
  if (has_numbered_sets(found.layout)) {
    const std::size_t choice = probe.traits().choice * wanted;
    return choose_far_apart(lines_of_set(found.layout.index, found.pool, set, choice), wanted);
  }
  Lines lines = found.layout.members;
  lines.resize(std::min(lines.size(), wanted));
  return lines;
}

ReplacementFit match_lines(SetsProbe& probe, const Lines& lines, const Lines& access_evictors,
                           std::uint32_t ways) {
  using Orders = std::vector<std::vector<std::uint16_t>>;
  const TracePlan plan = probe.plan_traces(ways, access_evictors.size());
  Orders orders;
  for (std::size_t trace = 0; trace < plan.policy_traces; ++trace) {
    orders.push_back(policy_trace(ways, plan.policy_accesses,
                                  derive_seed(plan.policy_seed, fmt::format("policy {}", trace))));
  }
  const std::vector<AccessRecord> policy_records =
      probe.record(lines, access_evictors, std::move(orders));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty() || plan.cyclic_traces == 0) return fit;
  return match_replacement(
      ways, policy_records,
      probe.record(lines, access_evictors,
                   Orders(plan.cyclic_traces, cyclic_trace(ways, plan.cyclic_accesses))));
}

/// nullopt with the reason in `reason` if the lines of the set are too few, or nothing pushes them
/// out of inner levels.
std::optional<ReplacementFit> match_set(SetsProbe& probe, const SetFindings& found,
                                        std::uint64_t set, std::string& reason) {
  const std::uint32_t ways = found.layout.home_ways;
  const Lines lines = lines_to_record(probe, found, set);
  if (lines.size() < policy_trace_lines(ways)) {
    reason = fmt::format("fewer than {} lines of a set are known, too few for chases over it alone",
                         policy_trace_lines(ways));
    return std::nullopt;
  }
  const auto access_evictors = probe.find_access_evictors(found, lines);
  if (!access_evictors) {
    reason = "too few lines of other sets are known to push those of one set out of inner levels";
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
  // Sets of other associativity would need chases of their own.
  if (numbered && layout.index.sets > 1 &&
      layout.ways_per_set.front() == layout.ways_per_set.back()) {
    for (std::uint64_t set : probe.sets_to_compare(layout.index, home, *first)) {
      if (auto fit = match_set(probe, found, set, none.reason)) fits.push_back(std::move(*fit));
    }
  }
  return combine_sets(fits);
}

}  // namespace sonde
