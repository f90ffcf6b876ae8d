// Up to three searches for sets, each at another place and on another SM, within a common limit of
// time.
#include "jobs/tlb/parts.hpp"

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "device/device_error.hpp"
#include "jobs/sets/search.hpp"
#include "jobs/tlb/tlb_probe.hpp"

#include <utility>

namespace sonde {
namespace {

/// Whether memory has enough entries per set for the chases that distinguish policies.
bool may_tell_policy(const SetFindings& found) {
  const std::uint64_t entries = found.pool.span_bytes / found.pool.line_bytes;
  return entries / found.layout.ways_per_set.size() >= policy_trace_lines(found.layout.home_ways);
}

/// Whether sets and policy were found, as far as possible.
bool is_whole(const SetFindings& found) {
  if (!found.confirmed()) return false;
  if (!may_tell_policy(found)) return true;
  return found.replacement && found.replacement->policy && found.replacement->alike.empty();
}

/// Searches; too little time, or a list that is too large for the device, becomes the reason.
SetFindings search_in_time(TlbProbe& probe) {
  try {
    return find_sets(probe);
  } catch (const SearchOverTime& error) {
    return {.pool = probe.pool(), .reason = error.what()};
  } catch (const ProbeTooLargeError& error) {
    return {.pool = probe.pool(), .reason = error.what()};
  }
}

}  // namespace

SetFindings find_sets_in_draws(const TlbUnderTest& tlb) {
  const double end_device_s = end_of_search(tlb.run);
  // Each search gets two thirds of the remaining time, so that others can follow if it finds
  // nothing: 32 sets behind 92 entries take 7 s.
  const auto end_of_draw = [&] { return (tlb.run.device_s() + 2 * end_device_s) / 3; };
  std::optional<TlbProbe> probe;
  std::optional<SetFindings> best;
  for (std::size_t draw = 0; draw < asked_places && !(best && is_whole(*best)); ++draw) {
    probe.emplace(draw == 0 ? tlb : at_other_place(tlb, "sets", draw), end_of_draw());
    SetFindings found = search_in_time(*probe);
    even_out(found.layout);
    if (!best || is_whole(found) || (found.confirmed() && !best->confirmed()))
      best = std::move(found);
  }
  report_sets(*probe, *best);
  return *std::move(best);
}

}  // namespace sonde
