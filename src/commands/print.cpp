// The commands that only read and print: `sonde export` (a run file in one of the formats of
// analysis/report), `sonde compare` (two run files), `sonde status` (progress of a running run).
#include "analysis/fleet/grounds/grounds.hpp"
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "fleet/progress.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace sonde {
namespace {

/// Describes a run in which no rank is at work. @throws StoreError if its file is not a run file
ExitStatus describe_resting_run(const std::filesystem::path& run) {
  const auto parts = parts_folder(run);
  if (std::filesystem::exists(run)) {
    check_readable(run, Depth::probes);
    std::cout << fmt::format("the run is over: '{}' holds {} device(s)\n", run.string(),
                             RunReader(run).device_count());
    return ExitStatus::ok;
  }
  if (!std::filesystem::exists(parts)) {
    throw ConfigError(fmt::format(
        "neither '{}' nor '{}' exists (nothing is known of such a run) name the output of a run",
        run.string(), parts.string()));
  }
  std::cout << fmt::format(
      "no rank is at work in '{}' (the run has not begun, or left shards: --resume goes on)\n",
      parts.string());
  return ExitStatus::ok;
}

}  // namespace

ExitStatus execute(const ExportOptions& options) {
  const auto* format = std::ranges::find(export_formats, options.format, &ExportFormat::name);
  if (options.verdicts_only && options.format != "json") {
    throw ConfigError(
        fmt::format("--verdicts-only does not go with --format {} (only JSON has a short form) use "
                    "--format json",
                    options.format));
  }
  check_readable(options.run, Depth::probes);
  const auto [run, analysis] = read_fleet(options.run, options.baseline);
  (options.verdicts_only ? write_verdicts : format->write)(std::cout, run, analysis);
  return ExitStatus::ok;
}

ExitStatus execute(const CompareOptions& options) {
  for (const std::string& run : options.runs) check_readable(run, Depth::probes);
  const RunComparison comparison = compare_files(options.runs.at(0), options.runs.at(1));
  std::cout << (options.format == "json" ? render_comparison_json(comparison)
                                         : render_comparison(comparison));
  return exit_status(comparison);
}

ExitStatus execute(const StatusOptions& options) {
  const std::vector<Progress> ranks = watch_progress(parts_folder(options.run));
  if (ranks.empty()) return describe_resting_run(options.run);
  std::cout << describe_progress(ranks);
  if (std::ranges::any_of(ranks, is_silent)) {
    std::cout << "the run is dead, or hangs (--resume goes on from what it measured)\n";
    return ExitStatus::incomplete;
  }
  return is_stopped(ranks) ? ExitStatus::resumable : ExitStatus::ok;
}

}  // namespace sonde
