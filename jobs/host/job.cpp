// Job `host`: rates of copies to and from the memory of the host, and in both directions at once;
// latency of loads from it; and what the driver reports about the links. The last job on a GPU, so
// that it sees the errors that other jobs caused. Method: docs/methods/host.md.
#include "analysis/statistics.hpp"
#include "base/units.hpp"
#include "jobs/host/links.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Largest first, so that pinned memory, which is slow to allocate, is allocated once. A copy of 32
/// MiB takes half a millisecond on the fastest link so far, fifty times its start.
const std::vector<std::uint64_t> standard_sizes_bytes{32_MiB, 8_MiB, 1_MiB, 64_KiB};
constexpr std::uint64_t full_size_bytes = 256_MiB;
constexpr int size_repeats = 5;       // of small copies; the median drops disturbed ones
constexpr int replicate_repeats = 2;  // of the largest size, whose time hardly varies
constexpr StoppingRule copy_rule{.least = 5, .most = 8};
constexpr StoppingRule quick_copy_rule{.least = 3, .most = 3};

/// A few pages of the host: only the first loads need a translation.
constexpr std::uint64_t chase_bytes = 256_KiB;
constexpr std::uint64_t host_chase_accesses = 256;
constexpr StoppingRule chase_rule{.least = 5, .most = 16};

struct Way {
  HostKind kind;
  const char* name;  // as in the metrics
  double copies;     // copies that run at once
};
constexpr std::array ways{Way{HostKind::to_device, "to_device", 1},
                          Way{HostKind::from_device, "from_device", 1},
                          Way{HostKind::both, "both", 2}};

std::vector<std::uint64_t> sizes_of(SuiteLevel level) {
  std::vector<std::uint64_t> sizes_bytes = standard_sizes_bytes;
  if (level == SuiteLevel::full) sizes_bytes.insert(sizes_bytes.begin(), full_size_bytes);
  return sizes_bytes;
}

/// Bytes per second of each repeat.
std::vector<double> copy_rates(JobRun& run, const Way& way, std::uint64_t bytes, Place place,
                               int repeats) {
  const Trace trace =
      run.ask(fmt::format("{} {} B", way.name, bytes),
              HostProbe{.kind = way.kind, .bytes = bytes, .place = place, .repeats = repeats});
  std::vector<double> rates;
  for (double ns : trace.repeat_ns) {
    if (ns > 0) rates.push_back(way.copies * static_cast<double>(bytes) / ns * 1e9);
  }
  return rates;
}

/// Reports the rate of the largest size from replicates.
void report_rate(JobRun& run, const Way& way) {
  const std::uint64_t bytes = sizes_of(run.level()).front();
  const Replicates replicates = measure_replicates(
      run, fmt::format("copies {}", way.name),
      [&](const Draw& draw) { return copy_rates(run, way, bytes, draw.place, replicate_repeats); },
      run.level() == SuiteLevel::quick ? quick_copy_rule : copy_rule);
  const std::string metric = fmt::format("host.{}_bytes_per_s", way.name);
  if (replicates.samples.empty()) {
    return run.leave_open(metric, "the times of copies are not known");
  }
  run.report(found_replicated(metric, replicates));
}

/// Reports the rates of all sizes.
void report_curve(JobRun& run, const Way& way) {
  std::vector<double> curve;
  for (const std::uint64_t bytes : sizes_of(run.level())) {
    curve.push_back(median(copy_rates(run, way, bytes, 0, size_repeats)));
  }
  const std::size_t samples = curve.size() * size_repeats;
  run.report(fmt::format("host.{}_by_size_bytes_per_s", way.name), std::move(curve), samples);
}

const std::initializer_list<std::string_view> copy_metrics{"host.to_device_", "host.from_device_",
                                                           "host.both_", "host.copy_"};

void report_copies(JobRun& run) {
  const bool quick = run.level() == SuiteLevel::quick;
  measure_part(run, copy_metrics, [&] {
    for (const Way& way : ways) {
      if (quick && way.kind == HostKind::both) continue;
      report_rate(run, way);
      if (!quick) report_curve(run, way);
    }
    if (quick) {
      for (std::string_view prefix : copy_metrics) run.skip_rest(prefix);
      return;
    }
    const std::vector<std::uint64_t> bytes = sizes_of(run.level());
    run.report("host.copy_bytes", std::vector<double>(bytes.begin(), bytes.end()), bytes.size());
  });
}

void report_latency(JobRun& run) {
  const std::string metric = "host.latency_ns";
  const double hz = sm_clock_hz(run);
  if (!(hz > 0)) return run.leave_open(metric, "the SM clock is not known");
  const double overhead_cycles = window_overhead_cycles(run);
  const auto measure = [&](const Draw& draw) {
    std::vector<double> ns =
        latencies_of(run.ask("loads from the host", HostProbe{.kind = HostKind::latency,
                                                              .bytes = chase_bytes,
                                                              .place = draw.place,
                                                              .accesses = host_chase_accesses,
                                                              .sm = draw.sm,
                                                              .seed = draw.seed}),
                     overhead_cycles);
    for (double& time : ns) time = time / hz * 1e9;
    return ns;
  };
  measure_part(run, {metric}, [&] {
    run.report(
        found_pooled(metric, measure_replicates(run, "loads from the host", measure, chase_rule)));
  });
}

}  // namespace

void run_host(JobRun& run) {
  report_copies(run);
  if (run.level() == SuiteLevel::quick) {
    run.skip_rest("host.latency_");
  } else {
    report_latency(run);
  }
  report_links_and_errors(run);
}

}  // namespace sonde
