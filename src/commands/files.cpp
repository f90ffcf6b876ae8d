// Every command but `run`: they work on files, need no GPU and no MPI, and run on a login node.
#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/history.hpp"
#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "commands/finish.hpp"
#include "device/open_device.hpp"
#include "fleet/progress.hpp"
#include "jobs/suite.hpp"
#include "store/merge.hpp"
#include "store/output.hpp"
#include "store/read_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

namespace sonde {
namespace {

/// Writes under another name first, so that no half page stands in the place of a whole one.
void write_text_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    std::filesystem::remove(part);
    throw StoreError(fmt::format("cannot write {} (is the folder there, writable and not full?)",
                                 path.string()));
  }
  std::filesystem::rename(part, path);
}

void refuse_existing(const std::string& path, bool force) {
  if (!force && std::filesystem::exists(path)) {
    throw ConfigError(
        fmt::format("{} is there already (it would be lost) use --force or another "
                    "name",
                    path));
  }
}

std::string render(const std::string& format, const RunResult& run, const FleetAnalysis& analysis) {
  if (format == "json") return render_json(run, analysis);
  if (format == "csv") return render_csv_long(run, analysis);
  if (format == "markdown") return render_markdown(run, analysis);
  if (format == "prometheus") return render_prometheus(run, analysis);
  if (format == "junit") return render_junit(run, analysis);
  return render_terminal(run, analysis);
}

int analyze(const Config& config) {
  const int status = analyze_run(config.inputs.at(0));
  if (!config.baseline.empty()) {
    const RunResult before = read_run(config.baseline, WithTraces::no);
    const RunResult after = read_run(config.inputs.at(0), WithTraces::no);
    std::cout << "\n" << render_comparison(compare_runs(before, after));
  }
  return status;
}

int write_report(const Config& config) {
  refuse_existing(config.output, config.force);
  const RunResult run = read_run(config.inputs.at(0), WithTraces::no);
  write_text_file(config.output, render_html(run, reduce_fleet(run)));
  log_world("wrote " + config.output);
  return exit_code::ok;
}

int export_run(const Config& config) {
  const RunResult run = read_run(config.inputs.at(0), WithTraces::no);
  std::cout << render(config.format, run, reduce_fleet(run));
  return exit_code::ok;
}

int compare(const Config& config) {
  const RunResult before = read_run(config.inputs.at(0), WithTraces::no);
  const RunResult after = read_run(config.inputs.at(1), WithTraces::no);
  std::cout << render_comparison(compare_runs(before, after));
  return exit_code::ok;
}

int merge(const Config& config) {
  refuse_existing(config.output, config.force);
  const std::vector<std::filesystem::path> sources(config.inputs.begin(), config.inputs.end());
  const MergeNotes merged = merge_runs(sources, config.output);
  for (const std::string& note : merged.notes) log_world(note);
  const int status = analyze_run(config.output);
  log_world("wrote " + config.output);
  return status;
}

void list_all_jobs() {
  for (const Job& job : all_jobs()) {
    constexpr std::array suites{"quick", "standard", "full"};
    fmt::print("{:<18} {:<9} {}\n", job.name, suites[static_cast<std::size_t>(job.level)],
               job.summary);
  }
}

void list_devices(const Config& config) {
  const BackendChoice backend = parse_backend(config.backend);
  check_backend(backend);
  for (const DeviceChoice& choice : list_visible_devices(backend, 0, config.seed)) {
    const auto device = open_device(backend, choice, config.seed);
    const DeviceInfo& info = device->info();
    fmt::print("{}  {}  {} SMs  {}\n", info.uuid, info.name, info.sm_count, info.pci_bus_id);
  }
}

int list(const Config& config) {
  if (config.list_what == "jobs") list_all_jobs();
  if (config.list_what == "metrics") {
    const bool markdown = config.format == "markdown";
    std::cout << render_metric_list(markdown ? ListFormat::markdown : ListFormat::plain);
  }
  if (config.list_what == "models") {
    for (const std::string& model : list_models()) fmt::print("{}\n", model);
  }
  if (config.list_what == "devices") list_devices(config);
  return exit_code::ok;
}

}  // namespace

int run_on_files(const Config& config) {
  prepare_store();
  switch (config.command) {
    case Command::analyze: return analyze(config);
    case Command::report: return write_report(config);
    case Command::export_results: return export_run(config);
    case Command::compare: return compare(config);
    case Command::merge: return merge(config);
    case Command::list: return list(config);
    case Command::status:
      std::cout << describe_progress(parts_folder(config.inputs.at(0)));
      return exit_code::ok;
    case Command::run: break;
  }
  throw Error("run is no command on files");
}

}  // namespace sonde
