// Up to three searches, each from another place on another SM, within the time that they have
// together; then which of them to believe.
#include "jobs/tlb/level_sets.hpp"

#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "device/device_error.hpp"
#include "jobs/sets/report.hpp"
#include "jobs/sets/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// Whether memory has enough entries of a set for chases over it alone, which tell policies apart.
bool may_tell_policy(const SetFindings& found) {
  const std::uint64_t entries = found.pool.span_bytes / found.pool.line_bytes;
  return entries / found.layout.ways_per_set.size() >= policy_trace_lines(found.layout.home_ways);
}

/// Sets, policy and all, as far as there is anything to be had.
bool is_whole(const SetFindings& found) {
  if (!found.confirmed()) return false;
  if (!may_tell_policy(found)) return true;
  return found.replacement && found.replacement->policy && found.replacement->alike.empty();
}

void drop_sets(SetFindings& found, std::string reason) {
  found.layout.ways_per_set.clear();
  found.layout.reason = reason;
  found.reason = std::move(reason);
}

/// Which of several searches to believe: one that found all; or one whose sets another one found,
/// too. If there is none, the sets are not known.
SetFindings choose_sets(std::vector<SetFindings> draws) {
  for (SetFindings& draw : draws) even_out(draw.layout);
  if (is_whole(draws.back()) || draws.size() == 1) return std::move(draws.back());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = draws[i].layout.ways_per_set == draws[j].layout.ways_per_set;
      if (draws[i].confirmed() && draws[j].confirmed() && same) return std::move(draws[i]);
    }
  }
  SetFindings& first = draws.front();
  if (first.confirmed()) {
    drop_sets(first, fmt::format("{} searches, each from another place on another SM, found "
                                 "different sets, or none",
                                 draws.size()));
  }
  return std::move(first);
}

/// Whether a row of entries, half way between what fits and what the sets are said to hold, misses
/// about as it would if it lay evenly in those sets: in the smallest of them.
bool has_room_here(const TlbUnderTest& tlb, const SetLayout& layout) {
  constexpr double uneven_share = 0.25;
  const std::uint64_t entries = (tlb.entries + layout.lines() + 1) / 2;
  const std::uint64_t span_bytes = entries * tlb.entry_bytes;
  if (layout.lines() <= tlb.entries + 1 || span_bytes > tlb.limit_bytes) return true;
  // Entries left out would fill other sets.
  if (page_step_over(tlb, span_bytes, tlb.step_bytes()) > tlb.entry_bytes) return true;
  const auto sets = static_cast<double>(layout.ways_per_set.size());
  const double entries_of_set = static_cast<double>(entries) / sets;
  const auto overfull = static_cast<double>(std::ranges::count_if(
      layout.ways_per_set, [&](std::uint32_t ways) { return ways < entries_of_set; }));
  return missing_share_at(tlb, span_bytes, tlb.step_bytes()) <= overfull / sets + uneven_share;
}

/// Whether it does so anywhere: in one of 24 runs on an H100 it did not at once.
bool has_room_for(const TlbUnderTest& tlb, const SetLayout& layout) {
  bool has_room = has_room_here(tlb, layout);
  for (std::size_t draw = 1; draw < asked_places && !has_room; ++draw)
    has_room = has_room_here(at_other_place(tlb, "room", draw), layout);
  return has_room;
}

/// What a search finds in its time, with lists that the device can chase.
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
  // Two thirds of what is left, so that a search that finds nothing leaves time for others: 32 sets
  // behind 92 entries take 7 s.
  const auto end_of_draw = [&] { return (tlb.run.device_s() + 2 * end_device_s) / 3; };
  TlbProbe probe(tlb, end_of_draw());
  std::vector<SetFindings> draws{search_in_time(probe)};
  while (draws.size() < asked_places && !is_whole(draws.back())) {
    TlbProbe other(at_other_place(tlb, "sets", draws.size()), end_of_draw());
    draws.push_back(search_in_time(other));
  }
  SetFindings chosen = choose_sets(std::move(draws));
  if (chosen.layout.resolved() && !has_room_for(tlb, chosen.layout)) {
    drop_sets(chosen, fmt::format("{} entries of all sets are more than the level holds: of a row "
                                  "of fewer too many miss",
                                  chosen.layout.lines()));
  }
  report_sets(probe, chosen);
  return chosen;
}

}  // namespace sonde
