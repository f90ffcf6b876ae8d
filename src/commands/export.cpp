// `sonde export`: a run file and its analysis, in one of the formats of analysis/report.
#include "base/error.hpp"
#include "commands/commands.hpp"
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
  const RunResult run = read_run(options.run, WithTraces::no);
  std::cout << format->render(run, reduce_fleet(run));
  return ExitStatus::ok;
}

}  // namespace sonde
