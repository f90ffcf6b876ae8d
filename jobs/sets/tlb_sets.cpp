// From conflicts between entries to findings on the sets of a TLB.
#include "jobs/sets/tlb_sets.hpp"

#include "analysis/structure/replacement/match.hpp"
#include "analysis/structure/replacement/policy_trace.hpp"
#include "analysis/structure/sets/line_search.hpp"
#include "analysis/structure/sets/set_layout.hpp"
#include "base/random.hpp"
#include "jobs/sets/cache_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace sonde {
namespace {

// Address bits beyond those of the index that a search should see.
constexpr std::uint64_t spans_of_level = 16;
// A buffer is aligned to 2 MiB at least (CUDA driver API), not to what a TLB reaches.
constexpr std::uint64_t most_origins = 1 << 14;
// Below this share of sets that behave in other chases as predicted, the number of entries is what
// the reach says.
constexpr double sure_agreement = 0.99;
// Sets that must agree on their ways where there are too many to look at each.
constexpr std::size_t enough_seen_sets = 8;

/// Entries to search with: a power of two of them, which shows most address bits, unless memory
/// would then hold too few to overfill the level.
LinePool choose_entries(const TlbGeometry& shape, std::uint64_t limit_bytes, std::uint64_t seed) {
  const std::uint64_t level_bytes = shape.entries * shape.entry_bytes;
  const std::uint64_t wanted_bytes = std::bit_ceil(level_bytes * spans_of_level);
  std::uint64_t span_bytes = std::min(wanted_bytes, std::bit_floor(limit_bytes));
  if (span_bytes < 2 * level_bytes)
    span_bytes = limit_bytes / shape.entry_bytes * shape.entry_bytes;
  return {.line_bytes = shape.entry_bytes,
          .span_bytes = span_bytes,
          .cached_lines = shape.entries,
          .seed = derive_seed(seed, shape.tlb.name + " sets"),
          .co_resident = {},
          .origins = std::min(most_origins, 2 * std::bit_ceil(span_bytes / shape.entry_bytes))};
}

/// What a search asks with: the pass_evictors behind every list, and another one to see what the
/// first takes.
struct PassEvictors {
  InnerEvictors first;
  std::optional<InnerEvictors> second;
};

std::optional<PassEvictors> find_both_pass_evictors(TlbOracle& oracle, const TlbGeometry& shape,
                                                    const LinePool& space) {
  auto first = oracle.find_pass_evictors(space.span_bytes);
  if (!first) return std::nullopt;
  PassEvictors pass_evictors{std::move(*first), std::nullopt};
  if (pass_evictors.first.accessed.empty()) {
    pass_evictors.second = InnerEvictors{};
  } else {
    const std::uint64_t step_bytes = std::max(shape.entry_bytes, shape.tlb.inner_step_bytes);
    pass_evictors.second =
        oracle.find_pass_evictors(pass_evictors.first.accessed.front() / step_bytes * step_bytes);
  }
  return pass_evictors;
}

/// Whether entries lie outside the set of `lines`: by the function, or by chases co_resident the
/// conflict.
std::vector<bool> lie_elsewhere(const Lines& entries, const Lines& lines, const SetLayout& sets,
                                const MissOracle& ask) {
  std::vector<bool> elsewhere;
  if (sets.index.kind != IndexKind::unresolved && sets.resolved()) {
    const std::uint64_t home = set_of(sets.index, lines.front());
    for (std::uint64_t entry : entries) elsewhere.push_back(set_of(sets.index, entry) != home);
    return elsewhere;
  }
  elsewhere = find_members(*sets.conflict, entries, ask);
  elsewhere.flip();
  return elsewhere;
}

/// So many inner entries, none of them in the set of `lines`, to push its entries out of inner
/// levels after each access. nullopt if too few are found.
std::optional<Lines> find_access_evictors(const MissOracle& ask, const LinePool& space,
                                          const TlbGeometry& shape, const SetLayout& sets,
                                          const Lines& lines, std::size_t wanted) {
  const std::uint64_t step_bytes = shape.tlb.inner_step_bytes;
  std::set<std::uint64_t> taken;  // inner entries
  for (std::uint64_t line : lines) taken.insert(inner_entry(shape, line));
  for (std::uint64_t line : space.co_resident) taken.insert(inner_entry(shape, line));
  Lines entries;
  Random random(derive_seed(space.seed, "rinse"));
  for (std::size_t draw = 0; draw < 4 * wanted; ++draw) {
    const std::uint64_t entry =
        random.below(space.span_bytes / space.line_bytes) * space.line_bytes;
    if (taken.insert(inner_entry(shape, entry)).second) entries.push_back(entry);
  }
  const std::vector<bool> elsewhere = lie_elsewhere(entries, lines, sets, ask);
  Lines access_evictors;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!elsewhere[i]) continue;
    for (std::uint64_t part = 0; part < space.line_bytes;
         part += std::min(step_bytes, space.line_bytes)) {
      if (access_evictors.size() < wanted) access_evictors.push_back(entries[i] + part);
    }
  }
  if (access_evictors.size() < wanted) return std::nullopt;
  return access_evictors;
}

ReplacementFit match_set(TlbOracle& oracle, const Lines& lines, const Lines& access_evictors,
                         std::uint32_t ways, std::uint64_t seed) {
  constexpr std::size_t accesses = 4000;
  constexpr std::size_t longest = 1000;
  constexpr std::size_t fewest_walks = 4;
  constexpr std::size_t most_walks = 64;
  const std::size_t length = std::min(oracle.longest_record(access_evictors), longest);
  const std::size_t count = std::clamp(accesses / length, fewest_walks, most_walks);
  std::vector<std::vector<std::uint16_t>> chases;
  for (std::size_t chase = 0; chase < count; ++chase) {
    chases.push_back(
        policy_trace(ways, length, derive_seed(seed, "policy " + std::to_string(chase))));
  }
  const std::vector<AccessRecord> policy_records =
      oracle.record(lines, access_evictors, std::move(chases));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty() || !oracle.is_clear()) return fit;
  const std::size_t cycle = std::min<std::size_t>(length, 12 * std::size_t{ways});
  return match_replacement(ways, policy_records,
                           oracle.record(lines, access_evictors,
                                         std::vector<std::vector<std::uint16_t>>(
                                             4 * accesses / cycle, cyclic_trace(ways, cycle))));
}

ReplacementFit measure_tlb_replacement(TlbOracle& oracle, const TlbGeometry& shape,
                                       const LinePool& space, const SetLayout& sets,
                                       const MissOracle& ask, std::size_t rinsing) {
  ReplacementFit none;
  const std::uint32_t ways = sets.home_ways;
  const std::size_t wanted = policy_trace_lines(ways);
  const auto match = [&](Lines lines) -> std::optional<ReplacementFit> {
    if (lines.size() < wanted) {
      none.reason = fmt::format("a set has fewer than {} entries to walk", wanted);
      return std::nullopt;
    }
    lines.resize(wanted);
    Lines access_evictors;
    if (rinsing > 0) {
      auto found = find_access_evictors(ask, space, shape, sets, lines, rinsing);
      if (!found) {
        none.reason =
            "too few entries are known to lie in other sets, to push those of one set out "
            "of the nearer levels";
        return std::nullopt;
      }
      access_evictors = std::move(*found);
    }
    return match_set(oracle, lines, access_evictors, ways, space.seed);
  };
  if (sets.index.kind == IndexKind::unresolved || !sets.resolved()) {
    const auto only = match(sets.members);
    return only ? *only : none;
  }
  const std::uint64_t home = set_of(sets.index, sets.members.front());
  const auto first = match(lines_of_set(sets.index, space, home, wanted));
  if (!first) return none;
  std::vector<ReplacementFit> fits{*first};
  if (sets.index.sets > 1 && sets.ways_per_set.front() == sets.ways_per_set.back()) {
    const std::uint64_t other = home == 0 ? sets.index.sets - 1 : 0;
    if (const auto fit = match(lines_of_set(sets.index, space, other, wanted))) {
      fits.push_back(*fit);
    }
  }
  return combine_sets(fits);
}

/// The commonest width among the sets seen and how many have it.
struct UsualWays {
  std::uint32_t ways = 0;
  std::size_t sets = 0;
};
UsualWays usual_ways(const std::vector<SeenSet>& seen) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const SeenSet& set : seen) ++counts[set.ways];
  UsualWays usual;
  for (const auto& [ways, sets] : counts) {
    if (sets > usual.sets) usual = {ways, sets};
  }
  return usual;
}

/// As many sets as the entries walked are parts like those seen, to a power of two if that is near;
/// nullopt if they would hold less than what was seen to fit, or far more.
std::optional<std::uint64_t> infer_sets(const SetLayout& found, std::uint32_t ways,
                                        std::uint64_t fitting_entries) {
  constexpr double near_power = 0.06;
  constexpr double most_excess = 1.25;
  std::uint64_t members = 0;
  for (const SeenSet& set : found.seen_sets) members += set.members;
  double sets =
      static_cast<double>(found.seen_lines * found.seen_sets.size()) / static_cast<double>(members);
  const double power = std::exp2(std::round(std::log2(sets)));
  if (std::abs(sets - power) <= near_power * power) sets = power;
  const double entries = std::round(sets) * ways;
  const auto fitting = static_cast<double>(fitting_entries);
  if (entries < fitting || entries > most_excess * fitting) return std::nullopt;
  return static_cast<std::uint64_t>(std::round(sets));
}

/// What some of many sets show, where no function tells which entries the others have.
void report_seen_sets(JobRun& run, const TlbGeometry& shape, const SetLayout& structure) {
  constexpr double inferred_confidence = 0.5;
  const std::string& name = shape.tlb.name;
  const UsualWays usual = usual_ways(structure.seen_sets);
  const std::uint64_t seen = structure.seen_sets.size();
  Finding ways = found(name + ".ways", static_cast<double>(usual.ways),
                       static_cast<double>(usual.sets) / static_cast<double>(seen), seen);
  ways.reason = fmt::format("{} of {} sets seen have so many", usual.sets, seen);
  run.report(std::move(ways));
  const auto inferred = infer_sets(structure, usual.ways, shape.entries);
  if (usual.sets == seen && inferred) {
    Finding sets = found(name + ".sets", static_cast<double>(*inferred), inferred_confidence, seen);
    sets.reason =
        fmt::format("each of {} sets seen has its share of {} entries", seen, structure.seen_lines);
    run.report(std::move(sets));
  } else {
    run.report(not_resolvable(
        name + ".sets", fmt::format("{} sets seen do not tell how many others there are", seen)));
  }
  for (const char* metric : {".ways_per_set", ".tag_reach_bytes", ".index_function"}) {
    run.report(not_resolvable(name + metric, structure.reason));
  }
}

}  // namespace

std::optional<std::uint64_t> find_small_entry(JobRun& run, const PageChaseSetup& setup,
                                              const TlbGeometry& outline) {
  constexpr double least_agreement = 0.75;
  const LinePool space = choose_entries(outline, setup.limit_bytes, run.seed());
  TlbOracle oracle(run, setup, outline, space.span_bytes);
  const auto pass_evictors = oracle.find_pass_evictors(space.span_bytes);
  if (!pass_evictors) return std::nullopt;
  const MissOracle ask = [&](std::span<const Lines> lists) {
    return oracle.ask(lists, *pass_evictors);
  };
  Lines pool;
  for (std::uint64_t at = 0; at < pass_evictors->accessed.front(); at += space.line_bytes)
    pool.push_back(at);
  Random random(derive_seed(space.seed, "small entries"));
  shuffle(pool, random);
  pool.resize(std::min<std::size_t>(pool.size(), 4 * outline.entries));
  std::string reason;
  const auto conflict = find_eviction_set(pool, ask, reason);
  if (!conflict) return std::nullopt;
  const LineByConflicts entry =
      find_line(*conflict, outline.granularity_bytes, outline.entry_bytes, ask);
  if (entry.agreement < least_agreement) return std::nullopt;
  return entry.bytes;
}

std::optional<std::uint64_t> characterize_tlb_sets(JobRun& run, const PageChaseSetup& setup,
                                                   const TlbGeometry& shape) {
  const std::string& name = shape.tlb.name;
  LinePool space = choose_entries(shape, setup.limit_bytes, run.seed());
  TlbOracle oracle(run, setup, shape, space.span_bytes);
  const auto pass_evictors = find_both_pass_evictors(oracle, shape, space);
  if (!pass_evictors) {
    report_no_sets(run, name, Status::not_resolvable,
                   "no row of entries pushes others out of the nearer levels and leaves half of "
                   "this one free");
    return std::nullopt;
  }
  space.co_resident = pass_evictors->first.co_resident;
  space.excluded = pass_evictors->first.excluded;
  const MissOracle ask = [&](std::span<const Lines> lists) {
    return oracle.ask(lists, pass_evictors->first);
  };
  std::optional<OtherCoResidents> other;
  if (pass_evictors->second) {
    other = OtherCoResidents{
        pass_evictors->second->co_resident, pass_evictors->second->excluded,
        [&](std::span<const Lines> lists) { return oracle.ask(lists, *pass_evictors->second); }};
  }
  const SetLayout sets = find_set_layout(space, ask, other);
  if (!sets.conflict) {
    report_no_sets(run, name, Status::not_resolvable, sets.reason);
    return std::nullopt;
  }
  if (sets.resolved() || sets.seen_sets.size() < enough_seen_sets) {
    report_sets(run, name, sets, shape.entry_bytes);
  } else {
    report_seen_sets(run, shape, sets);
  }
  report_replacement(run, name,
                     measure_tlb_replacement(oracle, shape, space, sets, ask,
                                             pass_evictors->first.accessed.size()));
  if (!sets.resolved() || sets.agreement < sure_agreement) return std::nullopt;
  return sets.lines();
}

}  // namespace sonde
