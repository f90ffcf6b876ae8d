// From conflicts between entries to findings on the sets of a TLB.
#include "jobs/tlb_sets.hpp"

#include "analysis/structure/policy_walk.hpp"
#include "analysis/structure/replacement.hpp"
#include "analysis/structure/set_search.hpp"
#include "base/random.hpp"
#include "jobs/cache_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace sonde {
namespace {

// Address bits beyond those of the index that a search should see.
constexpr std::uint64_t spans_of_level = 16;
// A buffer is aligned to 2 MiB at least (CUDA driver API), not to what a TLB reaches.
constexpr std::uint64_t most_origins = 1 << 14;
// Below this share of sets that behave in other walks as predicted, the number of entries is what
// the reach says.
constexpr double sure_agreement = 0.99;
// Sets that must agree on their ways where there are too many to look at each.
constexpr std::size_t enough_seen_sets = 8;

/// Entries to search with: a power of two of them, which shows most address bits, unless memory
/// would then hold too few to overfill the level.
LineSpace choose_entries(const TlbShape& shape, std::uint64_t limit_bytes, std::uint64_t seed) {
  const std::uint64_t level_bytes = shape.entries * shape.entry_bytes;
  const std::uint64_t wanted_bytes = std::bit_ceil(level_bytes * spans_of_level);
  std::uint64_t span_bytes = std::min(wanted_bytes, std::bit_floor(limit_bytes));
  if (span_bytes < 2 * level_bytes)
    span_bytes = limit_bytes / shape.entry_bytes * shape.entry_bytes;
  return {.line_bytes = shape.entry_bytes,
          .span_bytes = span_bytes,
          .cached_lines = shape.entries,
          .seed = derive_seed(seed, shape.tlb.name + " sets"),
          .beside = {},
          .origins = std::min(most_origins, 2 * std::bit_ceil(span_bytes / shape.entry_bytes))};
}

/// Entries that push those of a walk out of nearer levels after each visit. Empty at the nearest
/// level; nullopt if too few are known to lie in other sets.
std::optional<Lines> find_rinse(TlbOracle& oracle, const LineSpace& space, const Lines& lines,
                                std::uint64_t seed) {
  const std::size_t wanted = oracle.hiding_entries();
  if (wanted == 0) return Lines{};
  constexpr int tries = 4;
  Random random(seed);
  for (int i = 0; i < tries; ++i) {
    Lines rinse = oracle.find_apart(lines, wanted);
    if (rinse.size() == wanted) return rinse;
    // Beside the overfull set of these lines, entries of all other sets hold.
    Lines overfull = lines;
    for (std::size_t other = 0; other < 2 * wanted; ++other) {
      const std::uint64_t line = random.below(space.span_bytes / space.line_bytes);
      overfull.push_back(line * space.line_bytes);
    }
    std::sort(overfull.begin(), overfull.end());
    overfull.erase(std::unique(overfull.begin(), overfull.end()), overfull.end());
    oracle.ask(std::span(&overfull, 1));
  }
  return std::nullopt;
}

ReplacementFit match_set(TlbOracle& oracle, const Lines& lines, const Lines& rinse,
                         std::uint32_t ways, std::uint64_t seed) {
  constexpr std::size_t visits = 4000;
  constexpr std::size_t longest = 1000;
  constexpr std::size_t fewest_walks = 4;
  constexpr std::size_t most_walks = 64;
  const std::size_t length = std::min(oracle.longest_record(rinse), longest);
  const std::size_t count = std::clamp(visits / length, fewest_walks, most_walks);
  std::vector<std::vector<std::uint16_t>> walks;
  for (std::size_t walk = 0; walk < count; ++walk) {
    walks.push_back(policy_walk(ways, length, derive_seed(seed, "policy " + std::to_string(walk))));
  }
  const std::vector<SetRecord> policy_records = oracle.record(lines, rinse, std::move(walks));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty() || !oracle.is_clear()) return fit;
  const std::size_t cycle = std::min<std::size_t>(length, 12 * std::size_t{ways});
  return match_replacement(ways, policy_records,
                           oracle.record(lines, rinse,
                                         std::vector<std::vector<std::uint16_t>>(
                                             4 * visits / cycle, cyclic_walk(ways, cycle))));
}

ReplacementFit measure_tlb_replacement(TlbOracle& oracle, const LineSpace& space,
                                       const SetStructure& sets) {
  ReplacementFit none;
  const auto ways = static_cast<std::uint32_t>(sets.conflict->ways());
  const std::size_t wanted = policy_walk_lines(ways);
  const auto match = [&](Lines lines) -> std::optional<ReplacementFit> {
    if (lines.size() < wanted) {
      none.reason = fmt::format("a set has fewer than {} entries to walk", wanted);
      return std::nullopt;
    }
    lines.resize(wanted);
    const auto rinse = find_rinse(oracle, space, lines, space.seed);
    if (!rinse) {
      none.reason =
          "too few entries are known to lie in other sets, to push those of one set out "
          "of the nearer levels";
      return std::nullopt;
    }
    return match_set(oracle, lines, *rinse, ways, space.seed);
  };
  auto first = match(sets.members);
  if (!first) return none;
  std::vector<ReplacementFit> fits{std::move(*first)};
  const bool numbered = sets.index.kind != IndexKind::unresolved && sets.resolved();
  if (numbered && sets.index.sets > 1 && sets.ways_per_set.front() == sets.ways_per_set.back()) {
    const std::uint64_t home = set_of(sets.index, sets.members.front());
    const std::uint64_t other = home == 0 ? sets.index.sets - 1 : 0;
    if (auto fit = match(lines_of_set(sets.index, space, other, wanted))) {
      fits.push_back(std::move(*fit));
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
std::optional<std::uint64_t> infer_sets(const SetStructure& found, std::uint32_t ways,
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
void report_seen_sets(JobRun& run, const TlbShape& shape, const SetStructure& structure) {
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

std::optional<std::uint64_t> characterize_tlb_sets(JobRun& run, const PageSetup& setup,
                                                   const TlbShape& shape) {
  const std::string& name = shape.tlb.name;
  const LineSpace space = choose_entries(shape, setup.limit_bytes, run.seed());
  TlbOracle oracle(run, setup, shape, space.span_bytes);
  const SetStructure sets =
      find_sets(space, [&](std::span<const Lines> lists) { return oracle.ask(lists); });
  if (!sets.conflict) {
    report_no_sets(run, name, Status::not_resolvable, sets.reason);
    return std::nullopt;
  }
  if (sets.resolved() || sets.seen_sets.size() < enough_seen_sets) {
    report_sets(run, name, sets, shape.entry_bytes);
  } else {
    report_seen_sets(run, shape, sets);
  }
  report_replacement(run, name, measure_tlb_replacement(oracle, space, sets));
  if (!sets.resolved() || sets.agreement < sure_agreement) return std::nullopt;
  return sets.lines();
}

}  // namespace sonde
