// All jobs in the order in which they run, and how one of them is run without letting its failure
// spread.
#pragma once

#include "base/enum_text.hpp"
#include "jobs/job.hpp"

#include <span>

namespace sonde {

/// In running order: a job stands behind everything that it builds on.
std::span<const Job> all_jobs();

inline constexpr EnumName<SuiteLevel> suite_level_names[]{
    {SuiteLevel::quick, "quick"}, {SuiteLevel::standard, "standard"}, {SuiteLevel::full, "full"}};

/// @throws ConfigError for a name that is no suite
SuiteLevel parse_suite_level(std::string_view name);

/// The jobs of a suite, or those named and all that they build on, in running order.
/// @throws ConfigError for an unknown job, naming those there are
std::vector<const Job*> select_jobs(SuiteLevel level, const std::vector<std::string>& names);

/// What became of a job and of the device under it.
struct JobOutcome {
  JobResult result;
  bool device_lost = false;  // no further job can run
};

/// Runs one job. A failed probe ends the job, not the suite: the result then has status `failed`,
/// the reason, and everything found before.
/// @param time_limit_s a job over it is given up at its next probe
/// @param on_probe called after each probe
JobOutcome run_job(const Job& job, Device& device, SuiteLevel level, std::uint64_t seed,
                   const std::vector<JobResult>& earlier, double time_limit_s,
                   const std::function<void()>& on_probe);

}  // namespace sonde
