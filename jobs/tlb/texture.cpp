// Compares texture chases with those of plain loads, level by level. Levels with equal costs are
// the same; else the levels of textures are characterized like the others (jobs/tlb/levels).
#include "jobs/tlb/parts.hpp"

#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace sonde {
namespace {

constexpr std::array texture_names{"tlb.texture_l1", "tlb.texture_l2"};
constexpr std::string_view both_levels = "tlb.texture_";

// Texture caches up to Maxwell hold 24 KB (Mei and Chu 2016), later ones up to 256 KB. Twice as
// much empties them.
constexpr std::uint64_t narrow_sweep_bytes = 48_KiB;
constexpr std::uint64_t widest_sweep_bytes = 512_KiB;

/// Lines that empty any texture cache. The L2 must still hold the chased lines; GPUs with large
/// texture caches have large L2s.
Offsets sweep_texture_caches(const JobRun& run) {
  const std::uint64_t l2_bytes = run.info().l2_bytes;
  const std::uint64_t usual_bytes =
      std::clamp(l2_bytes / 8, narrow_sweep_bytes, widest_sweep_bytes);
  const auto known_bytes =
      static_cast<std::uint64_t>(std::max(run.number("cache.texture_l1.size_bytes").value_or(0),
                                          run.number("cache.texture_l2.size_bytes").value_or(0)));
  return sweep_lines(std::max(usual_bytes, std::min(2 * known_bytes, l2_bytes / 2)));
}

/// Costs above the threshold: their share and their median.
struct Misses {
  double share = 0;
  double usual_cycles = 0;
};

Misses misses_of(const PageChaseCosts& chase, double threshold_cycles) {
  std::vector<double> above = chase.cost_cycles;
  std::erase_if(above, [&](double cost) { return cost <= threshold_cycles; });
  if (above.empty()) return {};
  const auto all = static_cast<double>(chase.cost_cycles.size());
  return {static_cast<double>(above.size()) / all, median(above)};
}

/// Whether the penalty is clear. With ten cycles (H100, H200) up to a sixth of the missing pages is
/// overlooked.
bool misses_show(const TlbLevel& level) {
  constexpr double least_penalty_cycles = 20;
  return level.penalty_cycles >= least_penalty_cycles;
}

/// `unclear`: no span of plain loads missed the level.
enum class Likeness { alike, different, unclear, out_of_memory };

/// Whether texture fetches use a level of plain loads, too: equally many pages of the same spans
/// miss, at the same cost. The widest span is half as large again, as a level of many sets first
/// overflows in few of them.
Likeness compare(const PageChaseSetup& textures, const PageChaseSetup& loads, const TlbLevel& level,
                 std::uint64_t step_bytes) {
  const double share_tolerance = misses_show(level) ? 0.1 : 0.25;
  constexpr double penalty_tolerance = 0.2;
  constexpr double most_ratio = 1.5;            // of a cost to the usual penalty
  constexpr double least_missing_share = 0.02;  // fewer may be outliers
  const auto spread_over = [&](std::uint64_t span_bytes) {
    const std::uint64_t fewest_bytes = std::bit_ceil(span_bytes / loads.kept_pages);
    return spread_pages(std::max(step_bytes, fewest_bytes), sweep_start_bytes);
  };
  const std::uint64_t wider_bytes =
      std::min(level.overflowing_bytes / 2 * 3, loads.limit_bytes) / step_bytes * step_bytes;
  const LinesTried lines{.most = 5,
                         .is_clear = clear_of(level.threshold_cycles, share_tolerance / 2)};
  bool any_missed = false;
  const auto differ = [&](std::uint64_t span_bytes) {
    const PageSpread spread = spread_over(span_bytes);
    const Misses fetches =
        misses_of(measure_page_costs(textures, span_bytes, spread, lines), level.threshold_cycles);
    const Misses plain =
        misses_of(measure_page_costs(loads, span_bytes, spread, lines), level.threshold_cycles);
    // Lines lost by data caches cost far more; such a chase says nothing on the level.
    if (plain.usual_cycles > most_ratio * level.penalty_cycles + loads.least_step_cycles)
      return false;
    any_missed = any_missed || plain.share > least_missing_share;
    if (std::abs(fetches.share - plain.share) > share_tolerance) return true;
    const double apart_cycles = std::abs(fetches.usual_cycles - plain.usual_cycles);
    return std::min(fetches.share, plain.share) > least_missing_share &&
           apart_cycles > std::max(loads.least_step_cycles, penalty_tolerance * plain.usual_cycles);
  };
  Likeness likeness = Likeness::out_of_memory;
  refusal_of([&] {
    const bool is_other = differ(level.fitting_bytes) || differ(level.overflowing_bytes) ||
                          (wider_bytes > level.overflowing_bytes && differ(wider_bytes));
    likeness = is_other ? Likeness::different : any_missed ? Likeness::alike : Likeness::unclear;
  });
  return likeness;
}

/// The same at several places of memory; different only if it differs at all of them.
Likeness compare_at_draws(PageChaseSetup textures, PageChaseSetup loads, const TlbLevel& level,
                          std::uint64_t step_bytes) {
  constexpr std::size_t draws = 3;
  Likeness likeness = compare(textures, loads, level, step_bytes);
  for (std::size_t number = 1; number < draws && likeness == Likeness::different; ++number) {
    const Draw draw = draw_replicate(loads.run, "tlb texture", number);
    textures.chase = at_draw(textures.chase, draw);
    loads.chase = at_draw(loads.chase, draw);
    likeness = compare(textures, loads, level, step_bytes);
  }
  return likeness;
}

void report_same(JobRun& run, std::size_t levels, std::size_t compared) {
  const std::string reason = compared == levels
                                 ? "same as for plain loads"
                                 : fmt::format(
                                       "same as for plain loads as far as linear textures reach: "
                                       "{} of {} levels",
                                       compared, levels);
  run.report_rest(both_levels, Status::not_present, reason);
}

/// Whether the swept lines need translations of their own because they lie outside the first page.
bool take_translations(const Offsets& swept, const TlbLevels& plain) {
  return plain.granularities.empty() || plain.granularities.front().bytes <= swept.back();
}

void characterize(PageChaseSetup setup, const TlbLevels& plain) {
  const Offsets swept = std::exchange(setup.swept, {});
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  if (find_tlb_levels(chases, setup.least_step_cycles).empty()) {
    return setup.run.leave_open(both_levels,
                                "no access paid for a translation, though plain loads do");
  }
  if (!take_translations(swept, plain)) setup.swept = swept;
  const auto refusal = refusal_of([&] { characterize_tlb_levels(setup, chases, texture_names); });
  if (refusal) setup.run.leave_open(both_levels, *refusal);
}

}  // namespace

void report_texture_tlbs(PageChaseSetup loads, const TlbLevels& plain) {
  JobRun& run = loads.run;
  PageChaseSetup setup = set_up_page_chases(run, LoadPath::texture_1d);
  setup.second_access = SecondAccess::next_block;
  setup.most_pages = setup.kept_pages = loads.kept_pages;
  // If pages are small, the swept lines lie in many pages, whose translations disturb both chases.
  setup.swept = loads.swept = sweep_texture_caches(run);
  std::size_t compared = 0;
  bool is_unclear = false;
  // Textures have at most this many levels; further levels of plain loads need no counterpart.
  const std::size_t levels = std::min(plain.levels.size(), texture_names.size());
  for (std::size_t i = 0; i < levels; ++i) {
    if (plain.steps_bytes[i] == 0) continue;
    switch (compare_at_draws(setup, loads, plain.levels[i], plain.steps_bytes[i])) {
      case Likeness::alike: ++compared; break;
      case Likeness::different: characterize(setup, plain); return;
      case Likeness::unclear: is_unclear = true; break;
      case Likeness::out_of_memory: break;
    }
  }
  if (compared > 0) return report_same(run, levels, compared);
  if (is_unclear) {
    return run.leave_open(both_levels,
                          "plain loads miss no page where their levels should overflow");
  }
  if (plain.levels.empty()) {
    run.leave_open(both_levels, "no plain load ever paid for a translation");
  } else {
    run.report_rest(both_levels, Status::not_present, "no linear texture can be so large");
  }
}

}  // namespace sonde
