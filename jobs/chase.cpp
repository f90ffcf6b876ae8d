// Job `chase`: one chase as set by its options, for sweeps over footprint, stride, load path and
// carve-out. Infers nothing. Method: docs/methods/latency.md.
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::uint64_t usual_footprint_bytes = 16_KiB;
constexpr std::uint64_t usual_stride_bytes = 128;
// For each replicate, all of them are written to GPU memory and loaded twice as warm-up.
constexpr std::uint64_t most_accesses = 1 << 22;
constexpr std::uint64_t most_recorded = 2048;
constexpr std::uint64_t fewest_looped = 2048;
constexpr std::uint64_t most_looped = 4096;
// Larger than any first-level cache (256 KiB on Hopper). For such a list the order of the warm-up
// does not matter, and many loads in flight bring it into the outer levels.
constexpr std::uint64_t beyond_l1_bytes = 512_KiB;

LoadPath path_of(const JobRun& run) {
  const std::string name = run.text_setting("path").value_or("ca");
  std::size_t path = 0;
  while (to_text(static_cast<LoadPath>(path)) != name) ++path;  // the option allows no other names
  return static_cast<LoadPath>(path);
}

/// The largest footprint on the path of the setup.
std::uint64_t most_bytes(const JobRun& run, const ChaseSetup& setup) {
  if (setup.path == LoadPath::constant) return constant_bank_bytes;
  if (setup.path == LoadPath::instruction) return most_code_bytes(setup);
  return run.info().memory_bytes / 2;
}

/// @throws SettingError if the path has no such footprint, or there are too many addresses
ChasePlan plan_chase(const JobRun& run, const ChaseSetup& setup, std::uint64_t seed) {
  const std::uint64_t footprint_bytes =
      run.number_setting("footprint_bytes").value_or(usual_footprint_bytes);
  const std::uint64_t stride_bytes =
      run.number_setting("stride_bytes").value_or(usual_stride_bytes);
  if (footprint_bytes > most_bytes(run, setup)) {
    throw SettingError(Status::not_present,
                       fmt::format("at most {} can be chased through {} on this GPU",
                                   format_bytes(most_bytes(run, setup)), to_text(setup.path)));
  }
  if (stride_bytes % entry_bytes(setup.path) != 0) {
    throw SettingError(Status::not_resolvable,
                       fmt::format("accesses through {} begin at multiples of {} bytes",
                                   to_text(setup.path), entry_bytes(setup.path)));
  }
  if (footprint_bytes < stride_bytes || footprint_bytes / stride_bytes > most_accesses) {
    throw SettingError(
        Status::not_resolvable,
        fmt::format("{} hold {} addresses at this stride: 1 to {} can be chased",
                    format_bytes(footprint_bytes), footprint_bytes / stride_bytes, most_accesses));
  }
  ChasePlan plan;
  plan.offsets = run.text_setting("order") == "ascending"
                     ? ascending_order(footprint_bytes, stride_bytes)
                     : shuffled_order(footprint_bytes, stride_bytes, seed);
  plan.warmup_passes = 2;
  if (plan.offsets.size() * std::min(stride_bytes, common_line_bytes) >= beyond_l1_bytes) {
    plan.warm_up = WarmUp::overlapped;
  }
  plan.recorded =
      std::min<std::uint64_t>({plan.offsets.size(), longest_recorded_list(setup), most_recorded});
  return plan;
}

}  // namespace

void run_chase(JobRun& run) {
  const ChaseSetup setup = set_up_chase(run, path_of(run), RecordSpace::with_largest_l1);
  const Replicates timed = measure_replicates(run, "chase", [&](const Draw& draw) {
    return measure_chase(run, at_draw(setup, draw), "chase", plan_chase(run, setup, draw.seed))
        .cycles;
  });
  run.report(found_replicated("chase.latency_cycles", timed));
  if (setup.path == LoadPath::instruction) {
    return run.report(not_resolvable(
        "chase.amortised_cycles",
        "a loop over code also reads the order of accesses, which takes longer than the access"));
  }
  const Replicates looped = measure_replicates(run, "chase in a loop", [&](const Draw& draw) {
    const ChasePlan plan = plan_chase(run, setup, draw.seed);
    const std::uint64_t accesses =
        std::clamp<std::uint64_t>(plan.offsets.size(), fewest_looped, most_looped);
    return std::vector{
        measure_amortised_cycles(run, at_draw(setup, draw), "chase in a loop", plan, accesses)};
  });
  run.report(found_replicated("chase.amortised_cycles", looped));
}

}  // namespace sonde
