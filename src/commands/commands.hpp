// The commands of sonde with their options. Each has a file of its own; export, compare and status
// share print.cpp. Only `run` measures; the commands for files also run on a login node.
#pragma once

#include "analysis/report/report.hpp"
#include "base/enum_text.hpp"
#include "base/exit_status.hpp"
#include "commands/measure/measure.hpp"
#include "config/run_options.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sonde {

struct AnalyzeOptions {
  std::string run;
  std::string baseline;                 // empty: none
  std::vector<std::string> tolerances;  // "METRIC=FRACTION"
};

struct ReportOptions {
  std::string run;
  std::string output = "report.html";
  std::string baseline = "";
  bool force = false;
};

struct ExportOptions {
  std::string run;
  std::string format = "json";  // one of export_formats
  std::string baseline = "";
  bool verdicts_only = false;  // JSON: devices without their jobs and findings
};

struct CompareOptions {
  std::vector<std::string> runs;  // two files: before, after
  std::string format = "table";   // or "json"
};

struct MergeOptions {
  std::vector<std::string> sources;
  std::string output;
  bool force = false;
};

enum class ListTopic { jobs, metrics, models, devices };
inline constexpr EnumName<ListTopic> list_topic_names[]{{ListTopic::jobs, "jobs"},
                                                        {ListTopic::metrics, "metrics"},
                                                        {ListTopic::models, "models"},
                                                        {ListTopic::devices, "devices"}};
inline constexpr EnumName<ListFormat> list_format_names[]{{ListFormat::plain, "table"},
                                                          {ListFormat::markdown, "markdown"}};

struct ListOptions {
  ListTopic topic = ListTopic::jobs;
  std::string backend = "cuda";           // for devices
  ListFormat format = ListFormat::plain;  // for metrics
};

struct StatusOptions {
  std::string run;
};

/// The options of `run` that decide whether the machine can measure.
struct DoctorOptions {
  RunOptions run{};
};

using FileCommand = std::variant<AnalyzeOptions, ReportOptions, ExportOptions, CompareOptions,
                                 MergeOptions, ListOptions, StatusOptions, DoctorOptions>;
using Command = std::variant<RunOptions, FileCommand>;

/// @param argv as main received it
/// @returns the options of the command, or nothing if help or a version was printed to stdout
/// @throws ConfigError with the parser's message for bad usage, unknown keys, bad values
std::optional<Command> parse_command_line(int argc, const char* const* argv);

/// Makes and checks the plan of `run`. MPI has not started, so a typing error costs no time.
/// @throws ConfigError
RunPlan plan_run(const RunOptions& options, const std::string& command_line);

/// Lays out the plan again if it sweeps over "each" SM or over "pairs" of SMs. Called when the
/// number of SMs is known. Any other plan stays as it is.
void name_sms(int sm_count, RunPlan& plan);

struct RankView;  // fleet/assign.hpp

/// Names the SMs and carve-outs that the run sets or sweeps but no GPU has, and those that the GPUs
/// have. Empty if every one exists on some GPU.
std::string describe_refused(const RunPlan& plan, const std::vector<RankView>& views);

class RankLink;  // worker/keeper.hpp

/// Does a task (measure/worker_task.hpp) in a worker process and reports to the rank.
/// @returns the exit status of the worker
int do_task(RunPlan run, const std::string& task, const RankLink& rank);

struct RankContext;  // finish.hpp

/// Measures the GPUs that the ranks of the session see, and writes the run file.
/// @returns the same status on every rank
ExitStatus run_fleet(RunPlan plan, RankContext context);

/// Compares the devices of a run file, stores the analysis in it and prints the table to stdout.
/// @param baseline an earlier run file; devices that became worse since then are charged; "": none
/// @param registry the metrics with their tolerances; must outlive the analysis
/// @throws StoreError
FleetAnalysis analyze_run(const std::filesystem::path& path, const std::string& baseline = "",
                          std::span<const Metric> registry = all_metrics());

/// The registry with other tolerances: a metric warns from FRACTION; its limit to fail scales, too.
/// @param tolerances each "METRIC=FRACTION"; if a metric is named twice, the last one counts
/// @throws ConfigError if the metric is unknown or has no tolerance, or FRACTION is not above 0
std::vector<Metric> registry_with(const std::vector<std::string>& tolerances);

/// The last line of a run: "status 4: 7 passed, 1 failed; see run.h5".
/// @param status ok, incomplete or verdict
std::string describe_end(ExitStatus status, const FleetCounts& counts, const std::string& run_file);

/// The file commands. @returns the exit status of the program @throws Error
ExitStatus execute(const AnalyzeOptions& options);
ExitStatus execute(const ReportOptions& options);
ExitStatus execute(const ExportOptions& options);
ExitStatus execute(const CompareOptions& options);
ExitStatus execute(const MergeOptions& options);
ExitStatus execute(const ListOptions& options);
ExitStatus execute(const StatusOptions& options);
/// Starts processes, one of which starts MPI. Ends within ten seconds.
ExitStatus execute(const DoctorOptions& options);

}  // namespace sonde
