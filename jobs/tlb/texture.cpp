// Texture chases against those of plain loads, level by level: levels that cost the same are the
// same; else the levels of textures are characterized like the others (jobs/tlb/levels).
#include "jobs/tlb/texture.hpp"

#include "analysis/statistics.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde {
namespace {

constexpr std::array texture_names{"tlb.texture_l1", "tlb.texture_l2"};
constexpr std::string_view both_levels = "tlb.texture_";

// Texture caches up to Maxwell hold 24 KB in lines of 32 bytes (Mei and Chu 2016), later ones up to
// 256 KB in lines of 128: twice as much pushes everything out.
constexpr std::uint64_t narrow_sweep_bytes = 48_KiB;
constexpr std::uint64_t widest_sweep_bytes = 512_KiB;
constexpr std::uint64_t sweep_start_bytes = 64_KiB;  // behind the lines of the first page

/// Lines that empty any texture cache without a translation more, if a page holds so many.
Offsets sweep_first_page(std::uint64_t page_bytes, std::uint64_t l2_bytes) {
  Offsets swept;
  if (page_bytes < sweep_start_bytes + widest_sweep_bytes) return swept;
  // GPUs with large texture caches have large L2s; a small one must still hold what is chased.
  const std::uint64_t end_bytes = std::clamp(l2_bytes / 8, narrow_sweep_bytes, widest_sweep_bytes);
  for (std::uint64_t at = 0; at < end_bytes;) {
    swept.push_back(sweep_start_bytes + at);
    at += at < narrow_sweep_bytes ? smallest_line_bytes : common_line_bytes;
  }
  return swept;
}

/// Costs above the threshold: how many, and the usual one.
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

enum class Likeness { alike, different, out_of_memory };

/// Whether texture fetches meet a level of plain loads, too: as many pages of the same spans miss,
/// at the same cost. A level of many sets overflows in few of them at first: one span is half as
/// large again.
Likeness compare(const PageChaseSetup& textures, const PageChaseSetup& loads, const TlbLevel& level,
                 std::uint64_t step_bytes) {
  constexpr double share_tolerance = 0.1;
  constexpr double penalty_tolerance = 0.2;
  constexpr double least_missing_share = 0.02;  // fewer may be outliers
  const PageSpread spread = spread_pages(step_bytes, sweep_start_bytes);
  const std::uint64_t wider_bytes =
      std::min(level.overflowing_bytes / 2 * 3, loads.limit_bytes) / step_bytes * step_bytes;
  const auto differ = [&](std::uint64_t span_bytes) {
    const Misses fetches =
        misses_of(measure_page_costs(textures, span_bytes, spread), level.threshold_cycles);
    const Misses plain =
        misses_of(measure_page_costs(loads, span_bytes, spread), level.threshold_cycles);
    if (std::abs(fetches.share - plain.share) > share_tolerance) return true;
    const double apart_cycles = std::abs(fetches.usual_cycles - plain.usual_cycles);
    return std::min(fetches.share, plain.share) > least_missing_share &&
           apart_cycles > std::max(least_tlb_step_cycles, penalty_tolerance * plain.usual_cycles);
  };
  Likeness likeness = Likeness::out_of_memory;
  refusal_of([&] {
    const bool is_other = differ(level.fitting_bytes) || differ(level.overflowing_bytes) ||
                          (wider_bytes > level.overflowing_bytes && differ(wider_bytes));
    likeness = is_other ? Likeness::different : Likeness::alike;
  });
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

/// A cache of textures that is addressed virtually answers before any TLB.
void report_hidden(JobRun& run, std::uint64_t page_bytes) {
  run.report_rest(
      both_levels, Status::not_resolvable,
      fmt::format("fetches differ from plain loads, but pages of {} are too small to push their "
                  "lines out of the texture cache, which may answer before any TLB",
                  format_bytes(static_cast<double>(page_bytes))));
}

void characterize(PageChaseSetup setup) {
  setup.swept.clear();
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  TlbLevels own = find_levels(chases, texture_names.size());
  if (own.levels.empty()) {
    return setup.run.report_rest(both_levels, Status::not_resolvable,
                                 "no translation cost anything, though it does for plain loads");
  }
  characterize_tlb_levels(setup, chases, texture_names, own);
}

}  // namespace

void report_texture_tlbs(JobRun& run, const TlbLevels& plain) {
  PageChaseSetup setup = set_up_texture_chases(run);
  std::uint64_t page_bytes = ~std::uint64_t{0};
  for (const BlockSize& granularity : plain.granularities)
    page_bytes = std::min(page_bytes, granularity.bytes);
  setup.swept = sweep_first_page(page_bytes, run.info().l2_bytes);
  const PageChaseSetup loads = set_up_page_chases(run);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < plain.levels.size(); ++i) {
    if (plain.steps_bytes[i] == 0) continue;
    switch (compare(setup, loads, plain.levels[i], plain.steps_bytes[i])) {
      case Likeness::alike: ++compared; break;
      case Likeness::different:
        if (setup.swept.empty()) return report_hidden(run, page_bytes);
        characterize(setup);
        return;
      case Likeness::out_of_memory: break;
    }
  }
  if (compared > 0) return report_same(run, plain.levels.size(), compared);
  if (plain.levels.empty()) {
    run.report_rest(both_levels, Status::not_resolvable,
                    "no translation of plain loads ever cost anything");
  } else {
    run.report_rest(both_levels, Status::not_present, "no linear texture of that size");
  }
}

}  // namespace sonde
