// From conflicts to findings on sets.
#include "jobs/cache_sets.hpp"

#include "base/random.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace sonde {
namespace {

// Physical memory is contiguous within pages of this size at least (CUDA driver API).
constexpr std::uint64_t large_page_bytes = 2_MiB;
constexpr std::uint64_t spans_of_cache = 16;
constexpr std::array set_metrics{".sets", ".ways", ".ways_per_set", ".tag_reach_bytes",
                                 ".index_function"};
constexpr std::array replacement_metrics{".replacement", ".way_probability"};

/// Lines of one set, conflict or drawn: enough for walks that tell policies apart.
Lines lines_for_walks(const LineSpace& space, const SetStructure& sets, std::uint64_t set,
                      std::size_t count) {
  const bool numbered = sets.index.kind != IndexKind::unresolved;
  if (numbered) return lines_of_set(sets.index, space, set, count);
  Lines lines = sets.members;
  lines.resize(std::min(lines.size(), count));
  return lines;
}

Offsets walk_over(const Lines& lines, const std::vector<std::uint16_t>& order) {
  Offsets offsets;
  for (std::uint16_t line : order) offsets.push_back(lines[line]);
  return offsets;
}

std::vector<SetRecord> record_sets(JobRun& run, const ConflictSetup& setup, const Lines& lines,
                                   std::vector<std::vector<std::uint16_t>> orders) {
  std::vector<Offsets> walks;
  for (const auto& order : orders) walks.push_back(walk_over(lines, order));
  const std::vector<std::vector<bool>> missed = record_walks(run, setup, walks);
  std::vector<SetRecord> records;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    records.push_back({std::move(orders[i]), missed[i]});
  }
  return records;
}

/// Longest walk that one launch records, with its list in shared memory beside the record.
std::size_t longest_walk(const ConflictSetup& setup) {
  constexpr std::uint64_t list_entry_bytes = 4;
  return setup.cache.setup.recordable_accesses * record_bytes / (record_bytes + list_entry_bytes);
}

ReplacementFit match_set(JobRun& run, const ConflictSetup& setup, const Lines& lines,
                         std::uint32_t ways) {
  constexpr std::size_t policy_walks = 4;
  constexpr std::size_t wanted_victims = 4000;
  const std::size_t room = longest_walk(setup);
  const std::size_t accesses = std::clamp<std::size_t>(std::size_t{40} * ways, 1000, 8000);
  std::vector<std::vector<std::uint16_t>> walks;
  for (std::size_t walk = 0; walk < policy_walks; ++walk) {
    walks.push_back(policy_walk(ways, std::min(room, accesses),
                                derive_seed(setup.cache.seed, "policy " + std::to_string(walk))));
  }
  const std::vector<SetRecord> policy_records = record_sets(run, setup, lines, std::move(walks));
  ReplacementFit fit = match_replacement(ways, policy_records, {});
  if (fit.policy || !fit.alike.empty()) return fit;
  // A walk short enough that a slow visit taken for a miss spoils little.
  const std::size_t cycle = std::min<std::size_t>(room, std::max<std::size_t>(256, 12 * ways));
  const std::size_t rounds = std::max<std::size_t>(4, 4 * wanted_victims / cycle);
  const std::vector<SetRecord> cyclic_records = record_sets(
      run, setup, lines, std::vector<std::vector<std::uint16_t>>(rounds, cyclic_walk(ways, cycle)));
  return match_replacement(ways, policy_records, cyclic_records);
}

/// Set numbers whose policies are compared: two, and if they may duel as many as a leader takes.
std::vector<std::uint64_t> sets_to_match(const SetStructure& sets, const ReplacementFit& first) {
  constexpr std::uint32_t duelling_sets = 40;  // one leader in 32 (Qureshi 2007)
  if (sets.index.kind == IndexKind::unresolved || sets.index.sets < 2) return {};
  const bool may_duel = first.policy == Policy::srrip || first.policy == Policy::brrip;
  const std::uint32_t count = std::min(sets.index.sets, may_duel ? duelling_sets : 3u);
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

std::string explain(const SetStructure& sets) {
  return fmt::format(
      "{} lines make the smallest set that overflows; {:.2f} % of {} sets in other "
      "walks did as predicted",
      sets.conflict->lines.size(), 100 * sets.agreement, sets.checked_sets);
}

double mean_ways(const SetStructure& sets) {
  return static_cast<double>(sets.lines()) / static_cast<double>(sets.ways_per_set.size());
}

}  // namespace

LineSpace choose_line_space(const CacheSubject& cache, std::uint64_t size_bytes,
                            std::uint64_t line_bytes, std::uint64_t span_limit_bytes) {
  const std::uint64_t wanted =
      std::max(large_page_bytes, std::bit_ceil(size_bytes * spans_of_cache));
  const std::uint64_t span = std::min(wanted, std::bit_floor(span_limit_bytes));
  return {.line_bytes = line_bytes,
          .span_bytes = span,
          .cached_lines = size_bytes / line_bytes,
          .seed = derive_seed(cache.seed, "sets")};
}

SetStructure measure_sets(JobRun& run, const ConflictSetup& setup, const LineSpace& space) {
  return find_sets(space, ask_device(run, setup));
}

double confirm_sets(JobRun& run, const ConflictSetup& setup, const LineSpace& space,
                    const SetStructure& sets) {
  constexpr std::uint64_t asked_sets = 32;
  if (sets.index.kind == IndexKind::unresolved) return 0;
  const std::size_t ways = sets.conflict->ways();
  std::vector<Lines> lists;
  Random random(derive_seed(space.seed, "confirm"));
  for (std::uint64_t i = 0; i < asked_sets; ++i) {
    const std::uint64_t set = random.below(sets.index.sets);
    lists.push_back(lines_of_set(sets.index, space, set, ways));
    lists.push_back(lines_of_set(sets.index, space, set, ways + 1));
  }
  const std::vector<MissCounts> answers = ask_device(run, setup)(lists);
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    right += overflows(answers[i]) == (lists[i].size() > ways);
  }
  return static_cast<double>(right) / static_cast<double>(lists.size());
}

ReplacementFit measure_replacement(JobRun& run, const ConflictSetup& setup, const LineSpace& space,
                                   const SetStructure& sets) {
  const auto ways = static_cast<std::uint32_t>(sets.conflict->ways());
  const auto match = [&](std::uint64_t set) -> std::optional<ReplacementFit> {
    const Lines lines = lines_for_walks(space, sets, set, policy_walk_lines(ways));
    if (lines.size() < policy_walk_lines(ways)) return std::nullopt;
    return match_set(run, setup, lines, ways);
  };
  const std::uint64_t home =
      sets.index.kind == IndexKind::unresolved ? 0 : set_of(sets.index, sets.members.front());
  auto first = match(home);
  if (!first) {
    ReplacementFit none;
    none.reason = fmt::format("a set has fewer than {} lines to walk", policy_walk_lines(ways));
    return none;
  }
  // Sets of other width would need walks of their own.
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

void report_sets(JobRun& run, const std::string& cache, const SetStructure& sets,
                 std::uint64_t line_bytes) {
  if (!sets.resolved()) {
    for (const char* metric : set_metrics) {
      run.report(not_resolvable(cache + metric, sets.reason));
    }
    return;
  }
  const auto report = [&](const char* metric, Value value, std::string reason) {
    Finding finding = found(cache + metric, std::move(value), sets.agreement, sets.checked_sets);
    finding.reason = std::move(reason);
    run.report(std::move(finding));
  };
  report(".sets", static_cast<double>(sets.ways_per_set.size()), explain(sets));
  report(".ways", mean_ways(sets), {});
  report(".ways_per_set", std::vector<double>(sets.ways_per_set.begin(), sets.ways_per_set.end()),
         {});
  report(".tag_reach_bytes", static_cast<double>(sets.lines() * line_bytes), {});
  if (sets.index.kind == IndexKind::unresolved) {
    run.report(not_resolvable(cache + ".index_function", sets.index.reason));
    return;
  }
  report(".index_function", describe(sets.index),
         fmt::format("seen of the address: bits {}-{}", std::countr_zero(sets.index.known_bits),
                     std::bit_width(sets.index.known_bits) - 1));
}

void report_replacement(JobRun& run, const std::string& cache, const ReplacementFit& fit) {
  const auto samples = static_cast<std::uint64_t>(fit.scores.size());
  if (!fit.policy || !fit.alike.empty()) {
    run.report(not_resolvable(cache + ".replacement", fit.reason));
  } else {
    Finding finding =
        found(cache + ".replacement", std::string(to_text(*fit.policy)), fit.confidence, samples);
    finding.reason = fit.reason;
    run.report(std::move(finding));
  }
  if (fit.way_probability.empty()) {
    run.report(not_present(cache + ".way_probability", "victims are not drawn by lot"));
    return;
  }
  run.report(found(cache + ".way_probability", fit.way_probability, fit.confidence, samples));
}

void report_no_sets(JobRun& run, const std::string& cache, Status status,
                    const std::string& reason) {
  const auto report = [&](const std::string& metric) {
    run.report(status == Status::not_present ? not_present(metric, reason)
                                             : not_resolvable(metric, reason));
  };
  for (const char* metric : set_metrics) report(cache + metric);
  for (const char* metric : replacement_metrics) report(cache + metric);
}

SetFindings characterize_sets(JobRun& run, const CacheSubject& cache, std::uint64_t size_bytes,
                              std::uint64_t line_bytes) {
  const ConflictSetup setup = set_up_conflicts(run, cache, size_bytes, line_bytes);
  SetFindings found;
  found.space = choose_line_space(
      cache, size_bytes, line_bytes,
      cache.setup.path == LoadPath::constant ? constant_bank_bytes : run.info().memory_bytes / 4);
  found.sets = measure_sets(run, setup, found.space);
  report_sets(run, cache.name, found.sets, line_bytes);
  if (found.sets.resolved()) {
    found.replacement = measure_replacement(run, setup, found.space, found.sets);
    report_replacement(run, cache.name, *found.replacement);
    return found;
  }
  for (const char* metric : replacement_metrics) {
    run.report(not_resolvable(cache.name + metric, "no set is known to be walked alone"));
  }
  return found;
}

}  // namespace sonde
