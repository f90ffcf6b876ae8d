// All jobs in the order in which they run, and how one of them is run without letting its failure
// spread.
#pragma once

#include "base/enum_text.hpp"
#include "jobs/run/job_run.hpp"

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What a job measures: a GPU by itself; or what lies between the GPUs of a node, once all of them
/// have been measured by themselves.
enum class JobReach { gpu, node };

/// Which SMs a job can make do with: any, or all of them at once, because it compares them or
/// because they saturate together what they share.
enum class JobSms { any, all };

struct Job {
  std::string_view name;
  std::string_view summary;
  SuiteLevel level;  // the smallest suite that holds it
  void (*run)(JobRun&);
  std::array<std::string_view, 12> builds_on = {};  // jobs whose findings it reads
  JobReach reach = JobReach::gpu;
  JobSms sms = JobSms::any;
  std::span<const JobOption> options = {};
};

/// In running order: a job stands behind everything that it builds on.
std::span<const Job> all_jobs();

inline constexpr EnumName<SuiteLevel> suite_level_names[]{
    {SuiteLevel::quick, "quick"}, {SuiteLevel::standard, "standard"}, {SuiteLevel::full, "full"}};

/// @throws ConfigError for a name that is no suite
SuiteLevel parse_suite_level(std::string_view name);

/// The jobs of a suite, or those named and all that they build on, in running order.
/// @throws ConfigError for an unknown job, naming those there are
std::vector<const Job*> select_jobs(SuiteLevel level, const std::vector<std::string>& names);

/// The jobs of a run that measures some SMs: those named, which then must do with some, and all
/// that they build on; or, of a suite, those that can do with some.
/// @param names jobs that were asked for by name
/// @throws ConfigError if one of them cannot
std::vector<const Job*> select_jobs_of_some_sms(const std::vector<const Job*>& jobs,
                                                const std::vector<std::string>& names);

/// What items such as "latency.carveout_bytes=64KiB" set, by job.
/// @throws ConfigError for a job or option that there is not, or a value beyond its range
std::map<std::string, JobSettings> parse_job_settings(const std::vector<std::string>& items);

/// The option of a job that "latency.carveout_bytes" names; nullptr if there is none.
const JobOption* find_job_option(std::string_view name);

/// What became of a job and of the device under it.
struct JobOutcome {
  JobResult result;
  bool device_lost = false;  // no further job can run
};

/// Runs one job. A failed probe ends the job, not the suite: the result then has status `failed`,
/// the reason, and everything found before; `not_resolvable` if the device has no room for a probe.
/// Metrics of the job that it left without a finding are reported as failed, or as that: each
/// metric has exactly one finding.
/// @param time_limit_s a job over it is given up at its next probe
/// @param on_probe called after each probe
/// @param settings of this job
/// @param node for a job that reaches over the node
JobOutcome run_job(const Job& job, Device& device, SuiteLevel level, std::uint64_t seed,
                   const std::vector<JobResult>& earlier, double time_limit_s,
                   const std::function<void()>& on_probe, const JobSettings& settings = {},
                   const NodeGpus& node = {});

}  // namespace sonde
