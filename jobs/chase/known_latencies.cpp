// One chase through four lines for hits, one through flushed regions for the memory; by their
// latencies jobs/cache and jobs/latency tell hits from misses.
#include "jobs/chase/known_latencies.hpp"

#include "base/gpu_facts.hpp"

namespace sonde {

std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label) {
  const ChasePlan plan{.offsets = ascending_order(4 * common_line_bytes, common_line_bytes),
                       .warmup_passes = 4,
                       .passes = 64};
  return measure_chase(run, setup, label, plan).cycles;
}

std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label) {
  constexpr std::uint64_t regions = 6;
  constexpr std::uint64_t region_distance_bytes = 16_MiB;
  constexpr std::uint64_t lines = 64;
  constexpr std::uint64_t line_distance_bytes = 4608;  // other page of DRAM, other slice, no stream
  ChasePlan plan{
      .offsets = {}, .warmup_passes = 0, .passes = 3, .preparation = Preparation::flushed};
  for (std::uint64_t region = 0; region < regions; ++region) {
    for (std::uint64_t line = lines; line-- > 0;) {
      plan.offsets.push_back(region * region_distance_bytes + line * line_distance_bytes);
    }
  }
  std::vector<double> latencies = position_medians(measure_chase(run, setup, label, plan));
  for (std::uint64_t region = regions; region-- > 0;) {
    latencies.erase(latencies.begin() + static_cast<std::ptrdiff_t>(region * lines));
  }
  return latencies;
}

}  // namespace sonde
