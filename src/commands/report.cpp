// `sonde report`: report.html from a run file.
#include "analysis/report/charts.hpp"
#include "base/log.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

/// Of the devices that charts can show, if they were measured completely, from their traces; none
/// of a sweep, whose devices stand in the file at each of its points.
RawLatencies read_raw_latencies(const std::filesystem::path& path, const RunResult& run,
                                const FleetAnalysis& analysis) {
  const RunReader reader(path);
  if (reader.provenance().points.size() > 1) return {};
  RawLatencies raw;
  for (const std::size_t device : drawn_devices(run, analysis, most_chosen_devices)) {
    if (run.devices[device].status != DeviceOutcome::complete) continue;
    for (const JobResult& job : run.devices[device].jobs) {
      if (!job.job.starts_with("cache.") && job.job != "tlb") continue;
      std::ranges::move(raw_latencies(reader.read_job(device, job.job)),
                        std::back_inserter(raw[device]));
    }
  }
  return raw;
}

}  // namespace

ExitStatus execute(const ReportOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  const auto [run, analysis] = read_fleet(options.run, options.baseline, WithProbes::if_few);
  write_text_file(options.output,
                  render_html(run, analysis, read_raw_latencies(options.run, run, analysis)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
