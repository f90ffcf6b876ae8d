// `sonde report`: report.html from a run file.
#include "base/log.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// Of the first device that was measured completely, from its traces; none of a sweep, whose
/// devices stand in the file at each of its points.
RawLatencies read_raw_latencies(const std::filesystem::path& path, const RunResult& run) {
  const RunReader reader(path);
  const auto device =
      std::ranges::find(run.devices, DeviceOutcome::complete, &DeviceResult::status);
  if (reader.provenance().points.size() > 1 || device == run.devices.end()) return {};
  RawLatencies raw{static_cast<std::size_t>(device - run.devices.begin()), {}};
  for (const JobResult& job : device->jobs) {
    if (!job.job.starts_with("cache.") && job.job != "tlb") continue;
    RawLatency latency = raw_latency(reader.read_job(raw.device, job.job));
    if (latency.chases > 0) raw.jobs.push_back(std::move(latency));
  }
  return raw;
}

}  // namespace

ExitStatus execute(const ReportOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  const auto [run, analysis] = read_fleet(options.run, options.baseline, WithProbes::if_few);
  write_text_file(options.output, render_html(run, analysis, read_raw_latencies(options.run, run)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
