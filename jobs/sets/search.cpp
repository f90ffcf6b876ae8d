// The search only asks whether a list of lines overflows some set. find_set_layout finds minimal
// eviction sets by group testing, whatever the index function and the replacement policy are (Vila
// et al. 2019, "Theory and practice of finding eviction sets"); the lines are chosen here.
#include "jobs/sets/search.hpp"

#include "analysis/structure/sets/line_search.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// Sets the pass evictors and the lines that they leave for the search. False if there are none.
bool choose_pass_evictors(SetsProbe& probe, SetFindings& found) {
  auto evictors = probe.find_pass_evictors(found.pool.span_bytes);
  if (!evictors) {
    found.reason =
        "no compact region of lines evicts other lines from the inner levels and leaves most of "
        "this level free";
    return false;
  }
  found.pool.co_resident = evictors->co_resident;
  found.pool.excluded = evictors->excluded;
  found.pass_evictors = std::move(*evictors);
  return true;
}

SetLayout search(SetsProbe& probe, const SetFindings& found) {
  std::optional<OtherCoResidents> other;
  if (const auto evictors = probe.find_other_pass_evictors(found.pass_evictors)) {
    other =
        OtherCoResidents{evictors->co_resident, evictors->excluded, ask_behind(probe, *evictors)};
  }
  return find_set_layout(found.pool, ask_behind(probe, found.pass_evictors), other);
}

/// Extends the pass evictors by lines that always miss, and excludes the sets of these lines.
/// nullopt if no lines always miss.
std::optional<PassEvictors> keep_room_busy(SetsProbe& probe, const SetFindings& found) {
  constexpr std::size_t surely_fitting = 4;  // a quarter of the level
  const Lines lines = choose_lines(found.pool, found.pool.span_bytes / found.pool.line_bytes,
                                   derive_seed(found.pool.seed, "busy"));
  const BusyLines busy = find_busy_lines(lines, found.pool.cached_lines / surely_fitting,
                                         ask_behind(probe, found.pass_evictors));
  if (busy.lines.empty()) return std::nullopt;
  PassEvictors evictors = found.pass_evictors;
  evictors.busy = busy.lines.size();
  evictors.accessed.insert(evictors.accessed.end(), busy.lines.begin(), busy.lines.end());
  for (const Lines& taken : {busy.lines, busy.others}) {
    evictors.excluded.insert(evictors.excluded.end(), taken.begin(), taken.end());
  }
  std::ranges::sort(evictors.excluded);
  return evictors;
}

/// If lists overflow in one order and fit in another, any set may use extra room of the level.
void search_with_room_busy(SetsProbe& probe, SetFindings& found) {
  auto evictors = probe.traits().may_have_room ? keep_room_busy(probe, found) : std::nullopt;
  if (!evictors) return;
  SetFindings further{.pool = found.pool, .pass_evictors = std::move(*evictors)};
  further.pool.excluded = further.pass_evictors.excluded;
  further.layout = search(probe, further);
  if (further.layout.conflict) found = std::move(further);
}

/// Repeats the search on a wider pool; keeps the result if it is confirmed and contradicts nothing.
void look_further(SetsProbe& probe, SetFindings& found) {
  const auto wide = probe.widen_pool(found);
  if (!wide) return;
  SetLayout layout = find_set_layout(*wide, ask_behind(probe, found.pass_evictors));
  const bool differs = found.layout.resolved() && found.layout.ways_per_set != layout.ways_per_set;
  SetFindings further{.pool = *wide, .pass_evictors = found.pass_evictors, .layout = layout};
  if (further.confirmed() && !differs) found = std::move(further);
}

/// Looks for more bits of the index. Without time for that, the first result stands.
void search_more(SetsProbe& probe, SetFindings& found) {
  try {
    look_further(probe, found);
  } catch (const SearchOverTime&) {
    if (!found.layout.conflict) throw;
  }
}

}  // namespace

SetFindings find_sets(SetsProbe& probe) {
  SetFindings found{.pool = probe.pool()};
  if (!choose_pass_evictors(probe, found)) return found;
  probe.spread_over_sms(found.pass_evictors);
  found.layout = search(probe, found);
  if (!found.layout.conflict) search_with_room_busy(probe, found);
  search_more(probe, found);
  if (found.layout.conflict) {
    try {
      found.replacement = measure_replacement(probe, found);
    } catch (const SearchOverTime& error) {
      found.replacement.emplace().reason = error.what();  // the sets are known nevertheless
    }
  }
  return found;
}

Predictions try_sets(SetsProbe& probe, const SetFindings& found) {
  constexpr std::uint64_t asked_sets = 32;
  const SetLayout& layout = found.layout;
  const std::size_t ways = layout.ways_per_set.front();
  std::vector<Lines> lists;
  Random random(derive_seed(found.pool.seed, "confirm"));
  for (std::uint64_t i = 0; i < asked_sets; ++i) {
    const std::uint64_t set = random.below(layout.index.sets);
    for (const std::size_t count : {ways, ways + 1}) {
      Lines lines = lines_of_set(layout.index, found.pool, set, count);
      // The pool may have fewer lines of a set.
      if (lines.size() == count) lists.push_back(std::move(lines));
    }
  }
  const std::vector<MissCounts> answers = probe.ask(lists, {});
  Predictions predictions{.asked = lists.size()};
  for (std::size_t i = 0; i < lists.size(); ++i)
    predictions.right += overflows(answers[i]) == (lists[i].size() > ways);
  return predictions;
}

}  // namespace sonde
