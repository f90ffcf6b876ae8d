// Texture chases against those of plain loads, level by level: levels that cost the same are the
// same; else the levels of textures are characterized like the others (jobs/tlb/levels).
#include "jobs/tlb/texture.hpp"

#include "analysis/statistics.hpp"
#include "base/error.hpp"
#include "base/gpu_facts.hpp"

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
  std::vector<double> above;
  for (double cost : chase.cost_cycles) {
    if (cost > threshold_cycles) above.push_back(cost);
  }
  if (above.empty()) return {};
  const auto all = static_cast<double>(chase.cost_cycles.size());
  return {static_cast<double>(above.size()) / all, median(above)};
}

enum class Likeness { alike, different, out_of_memory };

/// Whether a level of plain loads is met by texture fetches, too.
Likeness compare(const PageChaseSetup& setup, const TlbLevel& level, std::uint64_t step_bytes) {
  constexpr double least_missing_share = 0.5;
  constexpr double most_missing_share = 0.02;
  constexpr double penalty_tolerance = 0.2;
  const PageSpread spread = spread_pages(step_bytes, sweep_start_bytes);
  const auto chase = [&](std::uint64_t span_bytes) {
    return misses_of(measure_page_costs(setup, span_bytes, spread), level.threshold_cycles);
  };
  try {
    const Misses fitting = chase(level.fitting_bytes);
    const Misses overflowing = chase(level.overflowing_bytes);
    const double difference_cycles = std::abs(overflowing.usual_cycles - level.penalty_cycles);
    const bool alike = fitting.share <= most_missing_share &&
                       overflowing.share >= least_missing_share &&
                       difference_cycles <= std::max(least_tlb_step_cycles,
                                                     penalty_tolerance * level.penalty_cycles);
    return alike ? Likeness::alike : Likeness::different;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError&) {
    return Likeness::out_of_memory;
  }
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

void characterize(PageChaseSetup setup) {
  setup.swept.clear();
  const std::vector<PageChaseCosts> chases = measure_growing_chases(setup);
  TlbLevels own = find_levels(chases, texture_names.size());
  if (own.levels.empty()) {
    setup.run.report_rest(both_levels, Status::not_resolvable,
                          "no translation cost anything, though it does for plain loads");
    return;
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
  std::size_t compared = 0;
  for (std::size_t i = 0; i < plain.levels.size(); ++i) {
    if (plain.steps_bytes[i] == 0) continue;
    switch (compare(setup, plain.levels[i], plain.steps_bytes[i])) {
      case Likeness::alike: ++compared; break;
      case Likeness::different: characterize(setup); return;
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
