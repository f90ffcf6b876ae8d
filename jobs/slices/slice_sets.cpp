// Finds eviction sets, and fills all sets, by chases past the L1 over lines of one slice.
#include "jobs/slices/slice_sets.hpp"
#include "jobs/chase/known_l2.hpp"

#include "analysis/structure/latency/latency_classes.hpp"
#include "analysis/structure/sets/conflict_set.hpp"
#include "analysis/structure/sets/group_testing.hpp"
#include "analysis/structure/sets/line_pool.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cache/cache_probe.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/sets/search.hpp"
#include "jobs/sets/sets_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

/// A slice has hundreds of sets; the ways of this many are measured.
constexpr std::size_t searched_sets = 3;
constexpr std::size_t most_chases = 500;

/// The sets of a slice, as far as they were measured.
struct SliceSets {
  std::vector<std::uint32_t> ways;  // of each measured set
  PackedLines packed = {};
  ReplacementFit replacement = {};
  std::string reason = {};  // why there are no ways
};

/// Number of pages that hold twice as many lines of a slice as it has room for.
std::uint64_t pages_to_search(const JobRun& run, double slices, std::uint64_t line_bytes,
                              std::uint64_t room) {
  constexpr std::uint64_t times_the_room = 2;
  const auto parts = static_cast<std::uint64_t>(known_l2_parts(run));
  const std::uint64_t lines = large_page_bytes / line_bytes;
  const double lines_of_page = static_cast<double>(lines) / slices;
  return static_cast<std::uint64_t>(static_cast<double>(times_the_room * room * parts) /
                                    lines_of_page) +
         1;
}

/// Chases past the L1 over lines of the slice, with a threshold between hits and the memory.
std::optional<CacheUnderTest> slice_under_test(JobRun& run, const Draw& draw,
                                               const SliceLines& slice) {
  constexpr std::size_t surely_fitting = 64;
  CacheUnderTest cache{
      .run = run,
      .name = "cache.l2.slice",
      .chase = at_draw(set_up_chase(run, LoadPath::past_l1, RecordSpace::longest), draw)};
  cache.chase.buffer_bytes = slice.buffer_bytes;
  cache.seed = derive_seed(draw.seed, "slice sets");
  const Lines lines = shuffled(slice.offsets, cache.seed);
  const ChasePlan few{.offsets = sonde::slice(lines, 0, surely_fitting),
                      .warmup_passes = 2,
                      .evidence = Evidence::of_a_search};
  const ChasePlan all{.offsets = lines, .evidence = Evidence::of_a_search};
  const auto threshold_cycles =
      separate_hits(measure_chase(cache, "lines that fit", few).cycles,
                    measure_chase(cache, "all lines", all).cycles, least_memory_gap_cycles);
  if (!threshold_cycles) return std::nullopt;
  cache.threshold_cycles = *threshold_cycles;
  return cache;
}

/// The policy of a set, from its lines in the pool.
ReplacementFit match_policy(CacheProbe& probe, const EvictionSet& conflict, const Lines& lines) {
  Lines candidates = lines;
  std::erase_if(candidates, [&](std::uint64_t line) {
    return std::ranges::find(conflict.lines, line) != conflict.lines.end();
  });
  SetFindings found{.pool = probe.pool()};
  found.layout.conflict = conflict;
  found.layout.home_ways = static_cast<std::uint32_t>(conflict.ways());
  found.layout.members = conflict.lines;
  const std::vector<bool> members = find_members(conflict, candidates, ask_behind(probe, {}));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (members[i]) found.layout.members.push_back(candidates[i]);
  }
  return measure_replacement(probe, found);
}

/// Fills all sets; then one line more overfills its set. If the sets cannot be filled so, searches
/// for a set among all lines.
void search_sets(CacheProbe& probe, const Lines& lines, std::uint64_t seed, SliceSets& found) {
  constexpr std::size_t usual_ways = 16;  // of an L2
  const MissOracle ask = ask_behind(probe, {});
  const Lines order = shuffled(lines, derive_seed(seed, "sets"));
  const std::size_t half = std::max<std::size_t>(1, probe.pool().cached_lines / 2);
  const std::size_t about_all_sets = std::max<std::size_t>(1, 2 * half / usual_ways);
  found.packed = pack_lines(order, half, about_all_sets, ask, most_chases);
  std::vector<EvictionSet> sets;
  const Lines others = found.packed.complete ? found.packed.left_over : Lines{};
  for (const std::uint64_t line : slice(others, 0, searched_sets)) {
    Lines overfull = found.packed.lines;
    overfull.push_back(line);
    Lines set = reduce_to_one_set(overfull, ask);
    if (!set.empty()) sets.push_back({.lines = std::move(set), .fitting_lines = half});
  }
  if (sets.empty()) {
    auto set = find_eviction_set(order, ask, found.reason);
    if (!set) return;
    sets.push_back(std::move(*set));
  }
  for (const EvictionSet& set : sets) {
    found.ways.push_back(static_cast<std::uint32_t>(set.ways()));
  }
  found.replacement = match_policy(probe, sets.front(), order);
}

/// Reports the number of sets: the lines that stay together divided by the ways.
void report_room(JobRun& run, const PackedLines& packed, std::uint32_t ways,
                 std::uint64_t line_bytes) {
  const std::size_t lines = packed.lines.size();
  if (!packed.complete) {
    const std::string reason =
        packed.asked_chases > most_chases
            ? fmt::format("{} chases were too few to fill all sets", most_chases)
            : "lines that fitted when added one by one do not all fit together: a set with too "
              "many lines still keeps some of them";
    return run.leave_open("cache.l2.slice_", reason);
  }
  if (lines % ways != 0) {
    for (const char* metric :
         {"cache.l2.slice_bytes", "cache.l2.slice_total_bytes", "cache.l2.slice_sets"}) {
      run.leave_open(metric, fmt::format("{} lines fit together: not all sets of {} ways are full",
                                         lines, ways));
    }
    return;
  }
  run.report(found("cache.l2.slice_bytes", static_cast<double>(lines * line_bytes), 1, lines),
             fmt::format("{} lines fit together, and none of {} other lines fits with them", lines,
                         packed.left_over.size()));
  const Finding* slices = run.finding("cache.l2.slices");
  if (slices != nullptr) {
    const int parts = known_l2_parts(run);
    const double all = std::get<double>(slices->value) * parts;
    run.report(found("cache.l2.slice_total_bytes", all * static_cast<double>(lines * line_bytes),
                     slices->confidence, lines),
               fmt::format("{} slices of {}, in {} of the L2", all,
                           format_bytes(static_cast<double>(lines * line_bytes)),
                           parts == 1 ? "the one part" : "both partitions"));
  }
  run.report("cache.l2.slice_sets", lines / ways, lines);
}

void report_policy(JobRun& run, const ReplacementFit& fit) {
  const std::string metric = "cache.l2.slice_replacement";
  if (!fit.policy || !fit.alike.empty()) return run.leave_open(metric, fit.reason);
  run.report(found(metric, std::string(to_text(*fit.policy)), fit.confidence, fit.scores.size()),
             fmt::format("of one set; explains {:.2f} % of the accesses", 100 * fit.agreement));
}

SliceSets measure_slice_sets(JobRun& run, const PageSlices& page, std::uint64_t line_bytes) {
  constexpr std::uint64_t most_pages = 256;
  SliceSets found;
  const auto slices = static_cast<double>(page.slices.slices);
  // Number of lines that a slice can hold, roughly.
  const auto room = static_cast<std::uint64_t>(known_l2_part_bytes(run) / slices /
                                               static_cast<double>(line_bytes));
  const std::uint64_t pages = pages_to_search(run, slices, line_bytes, room);
  if (room == 0 || pages > most_pages) {
    found.reason = room == 0 ? "the size of the L2 is not known"
                             : fmt::format("{} pages would be needed to overfill a slice", pages);
    return found;
  }
  const Draw draw = draw_replicate(run, "slice sets", 0);
  const std::vector<int> co_runners = choose_co_runners(
      known_groups(run).gpc_of_sm, run.info().sm_count, draw.sm, page.of_each_gpc);
  const SliceLines slice = collect_slice_lines(run, draw, line_bytes, co_runners, pages);
  found.reason = slice.reason;
  if (2 * slice.offsets.size() < 3 * room) {
    if (found.reason.empty()) {
      found.reason =
          fmt::format("{} lines of a slice were found in {} pages, too few to overfill it",
                      slice.offsets.size(), pages);
    }
    return found;
  }
  const auto cache = slice_under_test(run, draw, slice);
  if (!cache) {
    found.reason = fmt::format(
        "all {} lines of a slice fit in the L2: several times more than a slice with its own sets "
        "would hold",
        slice.offsets.size());
    return found;
  }
  CacheProbe probe(*cache, room * line_bytes, line_bytes);
  search_sets(probe, slice.offsets, cache->seed, found);
  return found;
}

}  // namespace

void report_slice_sets(JobRun& run, const PageSlices& page, std::uint64_t line_bytes) {
  const SliceSets sets = measure_slice_sets(run, page, line_bytes);
  if (sets.ways.empty()) {
    return run.leave_open("cache.l2.slice_", sets.reason);
  }
  const auto [fewest, most] = std::ranges::minmax(sets.ways);
  if (fewest != most) {
    return run.leave_open("cache.l2.slice_",
                          fmt::format("sets of {} and of {} ways were found", fewest, most));
  }
  run.report(found("cache.l2.slice_ways", static_cast<double>(most), 1, sets.ways.size()),
             fmt::format("{} sets measured: at least {} lines are needed to overflow",
                         sets.ways.size(), most + 1));
  report_policy(run, sets.replacement);
  report_room(run, sets.packed, most, line_bytes);
}

}  // namespace sonde
