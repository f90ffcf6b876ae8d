// Job `chase`: one chase as set by its options, for sweeps over footprint, stride, load path and
// carve-out, and over what the other SMs chase meanwhile. Infers nothing. Method:
// docs/methods/chase.md.
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "jobs/chase/pointer_chase.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

constexpr std::uint64_t usual_footprint_bytes = 16_KiB;
constexpr std::uint64_t usual_stride_bytes = 128;
// For each replicate, all of them are written to GPU memory and loaded twice as warm-up.
constexpr std::uint64_t most_accesses = 1 << 22;
constexpr std::uint64_t most_recorded = 2048;
constexpr std::uint64_t fewest_looped = 2048;
constexpr std::uint64_t most_looped = 8192;
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

/// What the run sets.
struct Extent {
  explicit Extent(const JobRun& run)
      : footprint_bytes(run.number_setting("footprint_bytes").value_or(usual_footprint_bytes)),
        stride_bytes(run.number_setting("stride_bytes").value_or(usual_stride_bytes)),
        others_bytes(run.number_setting("others_bytes").value_or(0)),
        other_sms(others_bytes > 0 ? run.info().sm_count - 1 : 0) {}
  std::uint64_t footprint_bytes;
  std::uint64_t stride_bytes;
  std::uint64_t others_bytes;
  int other_sms;  // each of these SMs chases others_bytes of its own

  std::uint64_t all_bytes() const {
    return footprint_bytes + static_cast<std::uint64_t>(other_sms) * others_bytes;
  }
};

Offsets order_of(const JobRun& run, std::uint64_t span_bytes, std::uint64_t stride_bytes,
                 std::uint64_t seed) {
  return run.text_setting("order") == "ascending" ? ascending_order(span_bytes, stride_bytes)
                                                  : shuffled_order(span_bytes, stride_bytes, seed);
}

/// @throws NoAnswer if the path reaches no such footprint, or there are too many addresses
ChasePlan plan_chase(const JobRun& run, const ChaseSetup& setup, std::uint64_t seed) {
  const Extent extent(run);
  const auto [footprint_bytes, stride_bytes] =
      std::pair(extent.footprint_bytes, extent.stride_bytes);
  if (extent.all_bytes() > most_bytes(run, setup)) {
    throw NoAnswer(Status::not_present,
                   fmt::format("at most {} can be chased through {} on this GPU",
                               format_bytes(most_bytes(run, setup)), to_text(setup.path)));
  }
  if (stride_bytes % entry_bytes(setup.path) != 0) {
    throw NoAnswer(Status::not_resolvable,
                   fmt::format("accesses through {} begin at multiples of {} bytes",
                               to_text(setup.path), entry_bytes(setup.path)));
  }
  const std::uint64_t addresses = extent.all_bytes() / stride_bytes;
  if (footprint_bytes < stride_bytes || addresses > most_accesses) {
    throw NoAnswer(Status::not_resolvable,
                   fmt::format("{} hold {} addresses at this stride: 1 to {} can be chased",
                               format_bytes(extent.all_bytes()), addresses, most_accesses));
  }
  if (extent.other_sms > 0 &&
      (footprint_bytes % stride_bytes != 0 || extent.others_bytes % stride_bytes != 0)) {
    throw NoAnswer(Status::not_resolvable, "chases beside each other take whole strides");
  }
  ChasePlan plan;
  plan.offsets = order_of(run, footprint_bytes, stride_bytes, seed);
  plan.warmup_passes = 2;
  if (plan.offsets.size() * std::min(stride_bytes, common_line_bytes) >= beyond_l1_bytes) {
    plan.warm_up = WarmUp::overlapped;
  }
  plan.recorded =
      std::min<std::uint64_t>({plan.offsets.size(), longest_recorded_list(setup), most_recorded});
  return plan;
}

/// Latencies of the chase while each other SM of the run chases bytes of its own behind it.
std::vector<double> measure_with_others(JobRun& run, const ChaseSetup& setup, const ChasePlan& plan,
                                        std::uint64_t seed) {
  const Extent extent(run);
  ChaseProbe probe{.buffer_bytes = extent.all_bytes(),
                   .place = setup.place,
                   .lanes = {{.sm = setup.sm, .offsets_bytes = plan.offsets, .path = setup.path}},
                   .warm_up = plan.warm_up,
                   .timed_accesses = plan.recorded,
                   .recorded_accesses = plan.recorded,
                   .shared_carveout_bytes = setup.shared_carveout_bytes};
  std::uint64_t begin_bytes = extent.footprint_bytes;
  for (int sm = 0; sm <= extent.other_sms; ++sm) {
    if (sm == setup.sm) continue;
    Offsets offsets = order_of(run, extent.others_bytes, extent.stride_bytes, seed);
    for (std::uint64_t& offset : offsets) offset += begin_bytes;
    begin_bytes += extent.others_bytes;
    probe.lanes.push_back({.sm = sm, .offsets_bytes = std::move(offsets), .path = setup.path});
  }
  const std::size_t longest =
      std::max(plan.offsets.size(), probe.lanes.back().offsets_bytes.size());
  probe.warmup_accesses = plan.warmup_passes * longest;
  return latencies_of(run.run("chase", probe).lanes.front(), setup.overhead_cycles);
}

/// Whole passes over a list, so that the mean is that of a pass; of a long list only a part.
std::uint64_t looped_accesses(std::uint64_t length) {
  const std::uint64_t passes = (fewest_looped + length - 1) / length;
  return std::min(passes * length, most_looped);
}

}  // namespace

void run_chase(JobRun& run) {
  const ChaseSetup setup = set_up_chase(run, path_of(run), RecordSpace::with_largest_l1);
  const Replicates timed = measure_replicates(run, "chase", [&](const Draw& draw) {
    const ChasePlan plan = plan_chase(run, setup, draw.seed);
    return Extent(run).other_sms > 0
               ? measure_with_others(run, at_draw(setup, draw), plan, draw.seed)
               : measure_chase(run, at_draw(setup, draw), "chase", plan).cycles;
  });
  run.report(found_replicated("chase.latency_cycles", timed));
  if (Extent(run).other_sms > 0) {
    return run.leave_open("chase.amortised_cycles",
                          "loops of several SMs do not begin and end together");
  }
  if (setup.path == LoadPath::instruction) {
    return run.leave_open(
        "chase.amortised_cycles",
        "a loop over code also reads the order of accesses, which takes longer than the access");
  }
  const Replicates looped = measure_replicates(run, "chase in a loop", [&](const Draw& draw) {
    const ChasePlan plan = plan_chase(run, setup, draw.seed);
    return std::vector{measure_amortised_cycles(run, at_draw(setup, draw), "chase in a loop", plan,
                                                looped_accesses(plan.offsets.size()))};
  });
  run.report(found_replicated("chase.amortised_cycles", looped));
}

}  // namespace sonde
