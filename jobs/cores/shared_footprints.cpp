// One thread loads the words of growing footprints in a scattered order. A cache in front of shared
// memory would make small footprints faster (Wong 2010, section IV-F).
#include "jobs/cores/parts.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Odd numbers of words, so that all banks are used. The narrow step fills a cache of short lines;
/// the wide step puts each word into a line of its own.
constexpr std::uint32_t steps_bytes[] = {36, 132};
constexpr std::uint64_t smallest_footprint_bytes = 1024;
/// Shared memory of a block for the record of the loads and for the kernel's own use.
constexpr std::uint64_t record_room_bytes = 1024;
constexpr std::uint64_t recorded_loads = 256;  // spread over the whole footprint

/// Step in words between loads: near the golden ratio of their number, so that consecutive loads
/// are spread over the footprint, and prime to it, so that each word is loaded.
std::uint32_t scattered_hop(std::uint32_t words) {
  auto hop = static_cast<std::uint32_t>(0.618 * words);
  while (std::gcd(hop, words) != 1) ++hop;
  return hop;
}

/// Three lists of equal length; the entries of a step are consecutive.
struct FootprintLatencies {
  std::vector<double> footprint_bytes;
  std::vector<double> step_bytes;
  std::vector<double> latency_cycles;
};

FootprintLatencies measure(JobRun& run, const std::vector<int>& sms, double overhead_cycles) {
  FootprintLatencies seen;
  const std::uint64_t largest_bytes = run.info().shared_bytes_per_block - record_room_bytes;
  std::vector<std::uint64_t> footprints;
  for (std::uint64_t bytes = smallest_footprint_bytes; bytes < largest_bytes; bytes *= 2) {
    footprints.push_back(bytes);
  }
  footprints.push_back(largest_bytes);
  for (std::uint32_t step : steps_bytes) {
    for (std::uint64_t footprint : footprints) {
      const auto words = static_cast<std::uint32_t>(footprint / step);
      const SharedChaseProbe probe{.thread_offsets_bytes = {0},
                                   .accesses = recorded_loads,
                                   .sms = sms,
                                   .words = words,
                                   .step_bytes = step,
                                   .hop_words = scattered_hop(words)};
      const Trace& trace = run.run(fmt::format("{} B in steps of {}", footprint, step), probe);
      seen.footprint_bytes.push_back(static_cast<double>(footprint));
      seen.step_bytes.push_back(step);
      seen.latency_cycles.push_back(precise_latency_cycles(all_windows(trace), overhead_cycles));
    }
  }
  return seen;
}

/// No known GPU has a cache in front of shared memory, so differing latencies prove none.
void report_cached(JobRun& run, const FootprintLatencies& seen, std::uint64_t samples) {
  const auto [least, most] = std::ranges::minmax(seen.latency_cycles);
  run.report("shared.footprint_deviation_cycles", most - least, seen.latency_cycles.size());
  const std::string range =
      fmt::format("{:.1f} to {:.1f} cycles over all footprints and steps", least, most);
  const double clock_step = run.number("clock.granularity_cycles").value_or(1);
  if (most - least < std::max(1.0, clock_step)) {
    return run.report(found("shared.cached", std::string("no"), 1, samples), range);
  }
  run.leave_open("shared.cached", range);
}

void report_footprints(JobRun& run, const std::vector<int>& sms, double overhead_cycles) {
  FootprintLatencies seen = measure(run, sms, overhead_cycles);
  const std::uint64_t samples = seen.latency_cycles.size() * recorded_loads * sms.size();
  report_cached(run, seen, samples);
  run.report("shared.footprint_bytes", std::move(seen.footprint_bytes), samples);
  run.report("shared.footprint_step_bytes", std::move(seen.step_bytes), samples);
  run.report("shared.footprint_latency_cycles", std::move(seen.latency_cycles), samples);
}

}  // namespace

void report_shared_footprints(JobRun& run, const std::vector<int>& sms, double overhead_cycles) {
  measure_part(run, {"shared.cached", "shared.footprint_"}, [&] {
    if (run.info().shared_bytes_per_block < record_room_bytes + smallest_footprint_bytes) {
      throw NoAnswer(Status::not_resolvable, "a block has too little shared memory");
    }
    report_footprints(run, sms, overhead_cycles);
  });
}

}  // namespace sonde
