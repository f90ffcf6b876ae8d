// Turns the options of `sonde run` into its plan: the points of its sweep, the jobs that each point
// measures, and the provenance for the file.
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "commands/commands.hpp"
#include "config/sweep.hpp"
#include "device/some_sms.hpp"
#include "fleet/assign.hpp"
#include "mpi/session.hpp"
#include "store/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

std::string unit_of_axis(const SweepAxis& axis) {
  const JobOption* option = find_job_option(axis.option);
  return option == nullptr || option->unit.empty() ? "1" : std::string(option->unit);
}

bool is_number(const std::string& text) { return parse_quantity(text).has_value(); }

/// The axes of the sweep without the seed, which every point stores anyway.
std::vector<Axis> axes_of(const SweepLayout& layout) {
  std::vector<Axis> axes;
  for (const SweepAxis& axis : layout.axes) {
    if (axis.option == "seed") continue;
    axes.push_back({.option = axis.option,
                    .unit = unit_of_axis(axis),
                    .is_number = std::ranges::all_of(axis.values, is_number)});
  }
  return axes;
}

Point describe_point(const SweepPoint& from, const std::vector<SweepAxis>& axes) {
  Point point{.config_hash = hash_options(from.options, from.repeat_index),
              .config_json = to_json(from.options),
              .seed = from.options.seed,
              .repeat_index = from.repeat_index};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].option != "seed") point.at.push_back(from.at[i]);
  }
  return point;
}

Provenance describe_run(const RunOptions& options, const std::string& command_line,
                        const std::string& started_utc, const SweepLayout& layout) {
  Provenance provenance;
  provenance.command_line = command_line;
  provenance.config_json = to_json(options);
  provenance.sonde_version = version;
  provenance.git_revision = git_revision;
  provenance.started_utc = started_utc;
  provenance.library_versions =
      fmt::format("{}, {}", store_library_version(), mpi_library_version());
  if (const char* job = std::getenv("SLURM_JOB_ID")) provenance.slurm_job_id = job;
  provenance.seed = options.seed;
  provenance.axes = axes_of(layout);
  for (const SweepPoint& point : layout.points) {
    provenance.points.push_back(describe_point(point, layout.axes));
  }
  provenance.config_hash = hash_points(provenance.points);
  provenance.sweep_hash = hash_common_options(options, layout.axes);
  return provenance;
}

/// The first repeat has the seed of a run without repeats.
std::uint64_t seed_of(const SweepPoint& point) {
  if (point.repeat_index == 0) return point.options.seed;
  return derive_seed(point.options.seed, fmt::format("repeat {}", point.repeat_index));
}

/// For each job of the point, a key of everything that its results depend on. If two points have
/// the same key for a job, the job is measured only at the first of them.
std::map<std::string_view, std::string> keys_of(const MeasurePlan& plan) {
  RunOptions common = plan.options;  // keep the options that affect all jobs
  common.jobs.clear();
  common.set.clear();
  common.sms.clear();
  const std::string common_hash = hash_options(common, plan.repeat_index);
  std::map<std::string_view, std::string> keys;
  for (const Job* job : plan.jobs) {
    std::string all = common_hash;
    if (plan.is_on_some_sms(*job)) all += fmt::format(" on {}", fmt::join(plan.sms, ","));
    for (const auto& [option, value] : plan.settings_of(*job))
      all += fmt::format(" {}={}", option, value);
    for (const std::string_view base : job->builds_on) {
      if (const auto found = keys.find(base); found != keys.end()) all += " " + found->second;
    }
    keys[job->name] = fmt::format("{:016x}", derive_seed(0, all));
  }
  return keys;
}

/// From a job and its key to the index of the point that measures it.
using Sources = std::map<std::pair<std::string_view, std::string>, std::size_t>;

/// Removes the jobs that an earlier point measures from the plan.
void share_jobs(std::size_t index, MeasurePlan& plan, Sources& sources) {
  const auto keys = keys_of(plan);
  std::erase_if(plan.jobs, [&](const Job* job) {
    const auto [source, is_new] = sources.try_emplace({job->name, keys.at(job->name)}, index);
    if (!is_new) plan.taken.push_back({job, source->second});
    return !is_new;
  });
}

MeasurePlan plan_point(const SweepPoint& point, RunPlan& run, Sources& sources) {
  MeasurePlan plan;
  plan.options = point.options;
  plan.device_seed = run.options.seed;
  plan.seed = seed_of(point);
  plan.repeat_index = point.repeat_index;
  plan.settings = parse_job_settings(point.options.set);
  plan.backend = parse_backend(point.options.backend);
  plan.level = parse_suite_level(point.options.suite);
  plan.jobs = select_jobs(plan.level, point.options.jobs);
  // The links of a node are measured after all GPUs; a run with a time budget has no time then.
  if (run.fills_budget() && point.repeat_index > 0) {
    std::erase_if(plan.jobs, [](const Job* job) { return job->reach == JobReach::node; });
  }
  plan.sms = parse_sms(point.options.sms);
  if (!plan.sms.empty()) plan.jobs = select_jobs_of_some_sms(plan.jobs, point.options.jobs);
  for (const auto& [job, settings] : plan.settings) {
    if (std::ranges::find(plan.jobs, job, &Job::name) != plan.jobs.end()) continue;
    throw ConfigError(
        fmt::format("{}.{} is set, but the job {} is not among those of this run: add it to --jobs",
                    job, settings.begin()->first, job));
  }
  const std::size_t index = run.points.size();
  share_jobs(index, plan, sources);
  for (const TakenJob& one : plan.taken) {
    run.provenance.points[index].shared.push_back(
        {std::string(one.job->name), run.provenance.points[one.point].config_hash});
  }
  plan.provenance = at_point(run.provenance, run.provenance.points.at(index));
  plan.parts = point_folder(run.parts, run.provenance.points.size(), plan.provenance.config_hash);
  if (index > 0) {
    plan.jobs_before =
        run.points.back().jobs_before + static_cast<int>(run.points.back().jobs.size());
  }
  return plan;
}

using Time = std::chrono::steady_clock::time_point;

RunPlan lay_out_run(RunOptions options, int sm_count, const std::string& command_line,
                    const std::string& started_utc, const std::optional<Time>& end) {
  for (std::string& axis : options.sweep) axis = name_sms_of(axis, sm_count);
  const SweepLayout layout = lay_out_sweep(options);
  RunPlan run{.options = options,
              .parts = parts_folder(options.output),
              .provenance = describe_run(options, command_line, started_utc, layout),
              .points = {}};
  Sources sources;
  for (const SweepPoint& point : layout.points) {
    run.points.push_back(plan_point(point, run, sources));
    run.points.back().end = end;
  }
  return run;
}

}  // namespace

void name_sms(int sm_count, RunPlan& plan) {
  if (plan.asked_sweep == plan.options.sweep) return;
  RunOptions options = plan.options;
  options.sweep = plan.asked_sweep;
  const auto asked = plan.asked_sweep;
  plan = lay_out_run(std::move(options), sm_count, plan.provenance.command_line,
                     plan.provenance.started_utc, plan.points.front().end);
  plan.asked_sweep = asked;
}

std::string describe_refused(const RunPlan& plan, const std::vector<RankView>& views) {
  int sm_count = 0;
  std::set<std::uint64_t> carveouts;
  for (const RankView& view : views) {
    sm_count = std::max(sm_count, view.sm_count);
    carveouts.insert(view.shared_carveouts_bytes.begin(), view.shared_carveouts_bytes.end());
  }
  std::set<std::uint64_t> no_carveouts;
  std::set<int> no_sms;
  for (const MeasurePlan& point : plan.points) {
    for (const int sm : point.sms) {
      if (sm >= sm_count) no_sms.insert(sm);
    }
    for (const auto& [job, settings] : point.settings) {
      const auto set = settings.find(options::carveout_bytes.name);
      if (set == settings.end()) continue;
      const std::uint64_t bytes = std::stoull(set->second);
      if (!carveouts.contains(bytes)) no_carveouts.insert(bytes);
    }
  }
  std::string text;
  if (!no_sms.empty()) {
    text += fmt::format("no GPU of this run has the SM {} (their SMs are 0 to {})",
                        fmt::join(no_sms, ", "), sm_count - 1);
  }
  if (!no_carveouts.empty()) {
    text += fmt::format(
        "{}no GPU of this run has a carve-out of {} bytes ({}{})", text.empty() ? "" : "; ",
        fmt::join(no_carveouts, ", "),
        carveouts.empty() ? "theirs is fixed" : "they have: ", fmt::join(carveouts, ", "));
  }
  return text;
}

RunPlan plan_run(const RunOptions& options, const std::string& command_line) {
  std::optional<Time> end;
  if (const auto budget_s = time_budget_s(options)) {
    end = std::chrono::steady_clock::now() +
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
              std::chrono::duration<double>(*budget_s));
  }
  constexpr int one_sm = 1;  // name_sms lays the plan out again with the real number
  RunPlan run =
      lay_out_run(options, one_sm, command_line,
                  fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))), end);
  run.asked_sweep = options.sweep;
  check_backend(run.points.front().backend);
  if (!options.force && !options.resume && !options.dry_run) refuse_existing(options.output);
  return run;
}

}  // namespace sonde
