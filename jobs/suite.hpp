// All jobs in running order, and the function that runs one of them and contains its failures.
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

/// What a job measures: a single GPU; or what lies between the GPUs of a node, after all of them
/// have been measured singly.
enum class JobReach { gpu, node };

/// Which SMs a job needs: any; or all at once, because it compares them or because only all
/// together saturate what they share.
enum class JobSms { any, all };

struct Job {
  std::string_view name;
  std::string_view summary;
  SuiteLevel level;  // the smallest suite that includes it
  void (*run)(JobRun&);
  std::array<std::string_view, 12> builds_on = {};  // jobs whose findings this job reads
  JobReach reach = JobReach::gpu;
  JobSms sms = JobSms::any;
  std::span<const JobOption> options = {};
};

/// In running order: every job comes after the jobs that it builds on.
std::span<const Job> all_jobs();

/// The names of suites, smallest first.
inline constexpr EnumName<SuiteLevel> suite_level_names[]{
    {SuiteLevel::quick, "quick"}, {SuiteLevel::standard, "standard"}, {SuiteLevel::full, "full"}};

/// @throws ConfigError for a name that is no suite
SuiteLevel parse_suite_level(std::string_view name);

/// The jobs of a suite; or, if `names` is not empty, these jobs and all that they build on.
/// @throws ConfigError for an unknown job; the message names the known jobs
std::vector<const Job*> select_jobs(SuiteLevel level, const std::vector<std::string>& names);

/// The jobs of a run on some SMs: without jobs that need all SMs, except prerequisites of `names`.
/// @param names jobs that were asked for by name
/// @throws ConfigError if a named job needs all SMs
std::vector<const Job*> select_jobs_of_some_sms(const std::vector<const Job*>& jobs,
                                                const std::vector<std::string>& names);

/// The settings in items such as "latency.carveout_bytes=64KiB", by job.
/// @throws ConfigError for an unknown job or option, or a value out of range
std::map<std::string, JobSettings> parse_job_settings(const std::vector<std::string>& items);

/// The option of a job that "latency.carveout_bytes" names; nullptr if there is none.
const JobOption* find_job_option(std::string_view name);

/// The result of a job, and the state of the device after it.
struct JobOutcome {
  JobResult result;
  bool device_lost = false;  // no further job can run
};

/// Runs one job. A failed probe ends the job, not the suite: the result then has status `failed`,
/// the reason, and everything found before; or status `not_resolvable` if a probe is too large for
/// the device. Metrics without a finding get the same status: each metric has exactly one finding.
/// @param time_limit_s a job that runs longer is stopped at its next probe
/// @param on_probe called after each probe
/// @param node for a job of reach `node`
JobOutcome run_job(const Job& job, Device& device, SuiteLevel level, std::uint64_t seed,
                   const std::vector<JobResult>& earlier, double time_limit_s,
                   const std::function<void()>& on_probe, const JobSettings& settings = {},
                   const NodeGpus& node = {});

}  // namespace sonde
