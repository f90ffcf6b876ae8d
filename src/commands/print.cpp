// The commands that only read and print: `sonde export` a run file in one of the formats of
// analysis/report, `sonde compare` two, `sonde status` the progress of a running run.
#include "analysis/fleet/repeats.hpp"
#include "base/error.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "fleet/progress.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace sonde {

ExitStatus execute(const ExportOptions& options) {
  const auto* format = std::ranges::find(export_formats, options.format, &ExportFormat::name);
  if (format == std::end(export_formats)) {
    throw ConfigError(fmt::format("'{}' is no format (see sonde export --help)", options.format));
  }
  const auto [run, analysis] = read_fleet(options.run);
  if (format->write != nullptr) {
    format->write(std::cout, run, analysis, stream_devices(options.run));
  } else {
    std::cout << format->render(run, analysis);
  }
  return ExitStatus::ok;
}

ExitStatus execute(const CompareOptions& options) {
  const RunResult before = centre_of_repeats(read_run(options.runs.at(0), WithTraces::no));
  const RunResult after = centre_of_repeats(read_run(options.runs.at(1), WithTraces::no));
  std::cout << render_comparison(compare_runs(before, after));
  return ExitStatus::ok;
}

ExitStatus execute(const StatusOptions& options) {
  const auto parts = parts_folder(options.run);
  const std::vector<Progress> ranks = read_progress(parts);
  if (ranks.empty()) {
    std::cout << fmt::format(
        "no progress files in '{}' (the run has not begun, or it is over and its file is whole)\n",
        parts.string());
    return ExitStatus::ok;
  }
  std::cout << describe_progress(ranks);
  const bool dead = std::ranges::any_of(ranks, is_silent);
  if (dead) std::cout << "the run is dead, or hangs (--resume goes on from what it measured)\n";
  return dead ? ExitStatus::incomplete : ExitStatus::ok;
}

}  // namespace sonde
