// The plan of a run: the parsed and checked options of each of its points, and the jobs of each.
#pragma once

#include "analysis/results.hpp"
#include "config/run_options.hpp"
#include "device/backends/open_device.hpp"
#include "jobs/suite.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A job that an earlier point measures under the same options; this point takes its result.
struct TakenJob {
  const Job* job = nullptr;
  std::size_t point = 0;
};

/// The parsed and checked options of one point of a run.
struct MeasurePlan {
  RunOptions options;
  std::uint64_t device_seed =
      1;                   // places buffers, and makes a simulated die: the same at all points
  std::uint64_t seed = 1;  // for the random choices of jobs: differs for each repeat
  std::uint64_t repeat_index = 0;
  std::map<std::string, JobSettings> settings = {};  // by job
  int jobs_before = 0;                               // number of jobs at earlier points
  std::optional<std::chrono::steady_clock::time_point> end = {};  // when the time budget is over
  BackendChoice backend;
  SuiteLevel level = SuiteLevel::standard;
  std::vector<const Job*> jobs;      // measured at this point
  std::vector<TakenJob> taken = {};  // measured here only if the earlier point has no answer
  std::vector<int> sms = {};         // for the named jobs, or for all if none is named; empty: all
  std::filesystem::path parts;       // folder of the shards of this point
  Provenance provenance;

  JobSettings settings_of(const Job& job) const;
  bool is_on_some_sms(const Job& job) const;
};

/// The plan of a run. Its points are measured one after the other.
struct RunPlan {
  RunOptions options;
  std::filesystem::path parts;  // a plain run has its shards in it; a sweep has a folder per point
  Provenance provenance;        // with all points
  std::vector<MeasurePlan> points;
  std::vector<std::string> asked_sweep = {};  // as given: "sms=each" where `options` has numbers

  /// True if the points are repeated until the time budget is over.
  bool fills_budget() const { return fills_time_budget(options); }
  /// True if the run has, or may get, several points.
  bool is_sweep() const { return points.size() > 1 || fills_budget(); }
  std::size_t points_of_repeat() const;
  int jobs_total() const;  // over all points
};

/// Why no further job may begin: a signal came, or the time budget is over. Empty: it may begin.
std::string why_to_stop(const MeasurePlan& plan);

}  // namespace sonde
