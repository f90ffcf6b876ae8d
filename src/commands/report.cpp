// `sonde report`: report.html from a run file.
#include "analysis/report/charts/charts.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace sonde {
namespace {

/// Latencies from the traces of those drawn devices that were measured completely. Empty for a
/// sweep, whose devices stand in the file once for each point.
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

/// Refuses to replace the run file by the page that is made from it.
void refuse_source_as_output(const std::string& output, const std::string& source) {
  std::error_code absent;
  if (!std::filesystem::equivalent(output, source, absent)) return;
  throw ConfigError(fmt::format(
      "'{}' is the run file itself (the page would replace it) name another file with -o", output));
}

}  // namespace

ExitStatus execute(const ReportOptions& options) {
  for (const std::string& source : {options.run, options.baseline}) {
    refuse_source_as_output(options.output, source);
  }
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  check_readable(options.run, Depth::traces);
  const auto [run, analysis] = read_fleet(options.run, options.baseline, Depth::probes);
  write_text_file(options.output,
                  render_html(run, analysis, read_raw_latencies(options.run, run, analysis)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
