// `sonde analyze`: reads a run file, analyses it, stores the analysis in the file and prints it.
#include "analysis/fleet/grounds/grounds.hpp"
#include "analysis/fleet/verdict/reduce.hpp"
#include "base/error.hpp"
#include "base/standard_output.hpp"
#include "base/units.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/analysis_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace sonde {
namespace {

constexpr std::size_t narrowest = 60;  // a narrower table has no room for its column of remarks

/// No colours under mpirun: it gives its ranks a terminal even if its own output goes to a file.
Colour stdout_colour() {
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMIX_RANK");
  const bool wanted = isatty(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted && !launched ? Colour::on : Colour::off;
}

std::size_t stdout_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<std::size_t>(size.ws_col, narrowest) : 0;
}

}  // namespace

std::vector<Metric> registry_with(const std::vector<std::string>& tolerances) {
  std::vector<Metric> registry(all_metrics().begin(), all_metrics().end());
  for (const std::string& text : tolerances) {
    const std::size_t end = std::min(text.find('='), text.size());
    const auto metric = std::ranges::find(registry, text.substr(0, end), &Metric::name);
    if (metric == registry.end()) {
      throw ConfigError(fmt::format("--tolerance {}: unknown metric '{}' (see sonde list metrics)",
                                    text, text.substr(0, end)));
    }
    if (metric->kind == MetricKind::structural || metric->kind == MetricKind::inventory) {
      throw ConfigError(fmt::format("--tolerance {}: '{}' has no tolerance (its value is exact)",
                                    text, metric->name));
    }
    const double fraction = parse_quantity(text.substr(std::min(end + 1, text.size()))).value_or(0);
    if (!(fraction > 0)) {
      throw ConfigError(fmt::format(
          "--tolerance {}: write METRIC=FRACTION with a number above 0 (0.02 is 2 %)", text));
    }
    metric->fail *= fraction / metric->warn;
    metric->warn = fraction;
  }
  return registry;
}

FleetAnalysis analyze_run(const std::filesystem::path& path, const std::string& baseline,
                          std::span<const Metric> registry) {
  auto [run, analysis] = read_fleet(path, baseline, Depth::findings, registry);
  std::optional<std::string> problem;  // thrown after printing, so that the table is not lost
  try {
    append_analysis(path, run, analysis);
  } catch (const StoreError& error) {
    problem = error.what();
  }
  std::cout << render_terminal(run, analysis, stdout_colour(), stdout_width(), Detail::summary)
            << fmt::format("\nall values: sonde export {} --format table\n", path.string());
  finish_output();  // here too: at the end of a run, a worker process prints
  if (problem) throw StoreError(*problem);
  return std::move(analysis);
}

std::string describe_end(ExitStatus status, const FleetCounts& counts,
                         const std::string& run_file) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::size_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(counts.passed, "passed");
  add(counts.warned, "warned");
  add(counts.failed, "failed");
  add(counts.incomplete, "incomplete");
  add(counts.lost, "lost");
  if (status == ExitStatus::verdict && counts.failed == 0) {
    parts.emplace_back("a node has fewer GPUs than most");
  }
  return fmt::format("status {}: {}; see {}", static_cast<int>(status), fmt::join(parts, ", "),
                     run_file);
}

ExitStatus execute(const AnalyzeOptions& options) {
  const std::vector<Metric> changed = registry_with(options.tolerances);
  const auto registry = options.tolerances.empty() ? all_metrics() : std::span(changed);
  check_readable(options.run, Depth::probes);
  const ExitStatus status = exit_status(analyze_run(options.run, options.baseline, registry));
  if (!options.baseline.empty()) {
    std::cout << "\n" << render_comparison(compare_files(options.baseline, options.run, registry));
  }
  return status;
}

}  // namespace sonde
