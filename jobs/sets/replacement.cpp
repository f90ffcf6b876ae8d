// The replacement of a cache whose sets are known: chases over the lines of some sets alone, and
// what explains them.
#include "base/random.hpp"
#include "jobs/sets/cache_sets.hpp"
#include "jobs/sets/inner_evictors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sonde {
namespace {

/// Lines of one set, conflict or drawn: enough for chases that tell policies apart.
Lines lines_of(const LinePool& space, const SetLayout& sets, std::uint64_t set, std::size_t count) {
  const bool numbered = sets.index.kind != IndexKind::unresolved;
  constexpr std::size_t choice = 8;
  if (numbered) {
    return choose_far_apart(lines_of_set(sets.index, space, set, choice * count), count);
  }
  Lines lines = sets.members;
  lines.resize(std::min(lines.size(), count));
  return lines;
}

/// Lines of one set, and those of others that are accessed after each of them: they push it out of
/// inner caches, so that the set sees every access.
struct SetLines {
  Lines lines;
  Lines access_evictors;

  std::size_t access_length() const { return 1 + access_evictors.size(); }
};

Offsets chase_over(const SetLines& set, const std::vector<std::uint16_t>& order) {
  Offsets offsets;
  for (std::uint16_t line : order) {
    offsets.push_back(set.lines[line]);
    offsets.insert(offsets.end(), set.access_evictors.begin(), set.access_evictors.end());
  }
  return offsets;
}

std::vector<AccessRecord> record_sets(JobRun& run, const ConflictSetup& setup, const SetLines& set,
                                      std::vector<std::vector<std::uint16_t>> orders) {
  std::vector<Offsets> chases;
  for (const auto& order : orders) chases.push_back(chase_over(set, order));
  const std::vector<std::vector<bool>> missed = record_traces(run, setup, chases);
  std::vector<AccessRecord> records;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    AccessRecord record{std::move(orders[i]), {}};
    for (std::size_t at = 0; at < missed[i].size(); at += set.access_length()) {
      record.missed.push_back(missed[i][at]);
    }
    records.push_back(std::move(record));
  }
  return records;
}

/// Most accesses that one launch records, with its list in shared memory co_resident the record.
std::size_t longest_trace(const ConflictSetup& setup, const SetLines& set) {
  constexpr std::uint64_t list_entry_bytes = 4;
  return setup.cache.chase.recordable_accesses * record_bytes / (record_bytes + list_entry_bytes) /
         set.access_length();
}

ReplacementFit match_set(JobRun& run, const ConflictSetup& setup, const SetLines& lines,
                         std::uint32_t ways) {
  constexpr std::size_t policy_traces = 4;
  constexpr std::size_t most_walks = 64;
  constexpr std::size_t wanted_victims = 4000;
  constexpr std::size_t least_victims = 300;
  const std::size_t room = longest_trace(setup, lines);
  const std::size_t accesses = std::clamp<std::size_t>(std::size_t{40} * ways, 1000, 8000);
  const std::size_t length = std::min(room, accesses);
  // Many short ones where a launch cannot record a long one.
  const std::size_t count =
      std::clamp(policy_traces * accesses / length, policy_traces, most_walks);
  std::vector<std::vector<std::uint16_t>> chases;
  for (std::size_t chase = 0; chase < (lines.access_evictors.empty() ? policy_traces : count);
       ++chase) {
    chases.push_back(policy_trace(
        ways, length, derive_seed(setup.cache.seed, "policy " + std::to_string(chase))));
  }
  const std::vector<AccessRecord> policy_records =
      record_sets(run, setup, lines, std::move(chases));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty()) return fit;
  // A chase short enough that a slow access taken for a miss spoils little.
  const std::size_t cycle = std::min<std::size_t>(room, std::max<std::size_t>(256, 12 * ways));
  // A wide set loses about two lines in each round.
  const std::size_t for_least = least_victims * (ways + 1) / 2 / cycle;
  const std::size_t rounds = std::max({std::size_t{4}, 4 * wanted_victims / cycle, for_least});
  const std::vector<AccessRecord> cyclic_records =
      record_sets(run, setup, lines,
                  std::vector<std::vector<std::uint16_t>>(rounds, cyclic_trace(ways, cycle)));
  return match_replacement(ways, policy_records, cyclic_records);
}

/// Those that lie co_resident the lists first: they are known to push lines out of the inner
/// caches. Then the lines before them, downwards.
Lines lines_of_other_sets(const LinePool& space, const SetLayout& sets, std::uint64_t set) {
  constexpr std::size_t most_lines = 4096;
  Lines lines = space.co_resident;
  for (std::uint64_t line = space.co_resident.front(); line > 0 && lines.size() < most_lines;) {
    line -= space.line_bytes;
    lines.push_back(line);
  }
  std::erase_if(lines, [&](std::uint64_t line) { return set_of(sets.index, line) == set; });
  return lines;
}

/// Set numbers whose policies are compared: two, and if they may duel as many as a leader takes.
std::vector<std::uint64_t> sets_to_match(const SetLayout& sets, const ReplacementFit& first) {
  constexpr std::uint32_t duelling_sets = 40;  // one leader in 32 (Qureshi 2007)
  if (sets.index.kind == IndexKind::unresolved || sets.index.sets < 2) return {};
  const bool may_duel = first.policy == Policy::srrip || first.policy == Policy::brrip;
  const std::uint32_t count = std::min(sets.index.sets, may_duel ? duelling_sets : 3u);
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

/// The lines of a set for chases; nullopt with the reason in `reason` if they are too few, or
/// nothing pushes them out of inner caches.
std::optional<SetLines> lines_for_walks(JobRun& run, const ConflictSetup& setup,
                                        const LinePool& space, const SetLayout& sets,
                                        std::uint64_t set, std::string& reason) {
  const std::uint32_t wanted = policy_trace_lines(sets.home_ways);
  SetLines found{lines_of(space, sets, set, wanted), {}};
  if (found.lines.size() < wanted) {
    reason = fmt::format("a set has fewer than {} lines to walk", wanted);
    return std::nullopt;
  }
  if (!setup.cache.inner) return found;
  auto access_evictors =
      find_access_evictors(run, setup.cache, found.lines, lines_of_other_sets(space, sets, set));
  if (!access_evictors) {
    reason = "no lines of other sets push those of one set out of the nearer caches";
    return std::nullopt;
  }
  found.access_evictors = std::move(*access_evictors);
  return found;
}

}  // namespace

ReplacementFit measure_replacement(JobRun& run, const ConflictSetup& setup, const LinePool& space,
                                   const SetLayout& sets) {
  ReplacementFit none;
  const auto match = [&](std::uint64_t set) -> std::optional<ReplacementFit> {
    const auto lines = lines_for_walks(run, setup, space, sets, set, none.reason);
    if (!lines) return std::nullopt;
    return match_set(run, setup, *lines, sets.home_ways);
  };
  const std::uint64_t home =
      sets.index.kind == IndexKind::unresolved ? 0 : set_of(sets.index, sets.members.front());
  auto first = match(home);
  if (!first) return none;
  // Sets of other width would need chases of their own.
  const bool equal = sets.ways_per_set.front() == sets.ways_per_set.back();
  std::vector<ReplacementFit> fits{*first};
  if (equal) {
    for (std::uint64_t set : sets_to_match(sets, *first)) {
      if (set == home) continue;
      if (auto fit = match(set)) fits.push_back(std::move(*fit));
    }
  }
  return combine_sets(fits);
}

}  // namespace sonde
