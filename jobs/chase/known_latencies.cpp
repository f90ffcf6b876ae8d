// Latencies of hits (a chase through four lines) and of the memory (lines after a flush), by which
// jobs/cache and jobs/latency distinguish hits from misses.
#include "jobs/chase/known_latencies.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace sonde {

std::vector<double> measure_resident_latencies(JobRun& run, const ChaseSetup& setup,
                                               const std::string& label) {
  const ChasePlan plan{.offsets = ascending_order(4 * common_line_bytes, common_line_bytes),
                       .warmup_passes = 4,
                       .passes = 64};
  return measure_chase(run, setup, label, plan).cycles;
}

std::vector<double> measure_memory_latencies(JobRun& run, const ChaseSetup& setup,
                                             const std::string& label, std::uint64_t seed,
                                             std::uint64_t passes, std::uint64_t page_bytes) {
  constexpr std::uint64_t regions = 6;
  constexpr std::uint64_t region_distance_bytes = 16_MiB;
  constexpr std::uint64_t lines = 64;
  constexpr std::uint64_t line_distance_bytes = 4608;  // another DRAM page and slice; no stream
  constexpr std::uint64_t span_bytes = lines * line_distance_bytes;  // fits into a large page
  constexpr std::uint64_t pages = region_distance_bytes / large_page_bytes;
  constexpr std::uint64_t fewest_lines_of_page = 4;
  const std::uint64_t distance_bytes =
      std::min(line_distance_bytes, page_bytes / fewest_lines_of_page);
  Random random(seed);
  ChasePlan plan{
      .offsets = {}, .warmup_passes = 0, .passes = passes, .preparation = Preparation::flushed};
  for (std::uint64_t region = 0; region < regions; ++region) {
    const std::uint64_t start_bytes =
        region * region_distance_bytes + random.below(pages) * large_page_bytes +
        random.below((large_page_bytes - span_bytes) / common_line_bytes) * common_line_bytes;
    for (std::uint64_t line = lines; line-- > 0;) {
      plan.offsets.push_back(start_bytes + line * distance_bytes);
    }
  }
  const std::vector<double> of_all = position_medians(measure_chase(run, setup, label, plan));
  std::vector<double> latencies;
  for (std::size_t i = 1; i < plan.offsets.size(); ++i) {
    if (plan.offsets[i] / page_bytes != plan.offsets[i - 1] / page_bytes) continue;
    latencies.push_back(of_all[i]);
  }
  return latencies;
}

}  // namespace sonde
