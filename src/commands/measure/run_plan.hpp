// What a run measures: the options of each of its points, looked up and checked, and the jobs of
// each.
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

/// A job that a point takes from an earlier one, which measured it under the same options.
struct TakenJob {
  const Job* job = nullptr;
  std::size_t point = 0;
};

/// The options of one point of a run, looked up and checked.
struct MeasurePlan {
  RunOptions options;
  std::uint64_t device_seed = 1;  // of simulated GPUs: the same at all points of a run
  std::uint64_t seed = 1;         // of what jobs draw: another one for each repeat
  std::uint64_t repeat_index = 0;
  std::map<std::string, JobSettings> settings = {};  // by job
  int jobs_before = 0;                               // at the points of the run before this one
  std::optional<std::chrono::steady_clock::time_point> end = {};  // of the time budget
  BackendChoice backend;
  SuiteLevel level = SuiteLevel::standard;
  std::vector<const Job*> jobs;      // that are measured at this point
  std::vector<TakenJob> taken = {};  // the others, as far as the earlier point has an answer
  std::vector<int> sms = {};         // of the named jobs, or of all if none is; empty: all SMs
  std::filesystem::path parts;       // folder of the shard and of the progress file
  Provenance provenance;

  JobSettings settings_of(const Job& job) const;
  bool is_on_some_sms(const Job& job) const;
};

/// A run: its points are measured one after the other.
struct RunPlan {
  RunOptions options;
  std::filesystem::path parts;  // of the one point of a plain run; else each has a folder in it
  Provenance provenance;        // with all points
  std::vector<MeasurePlan> points;
  std::vector<std::string> asked_sweep = {};  // may have "sms=each" where `options` have numbers

  /// The points are repeated until the time budget is over: those are left that are whole then.
  bool fills_budget() const { return fills_time_budget(options); }
  /// Each point has a folder of shards.
  bool is_sweep() const { return points.size() > 1 || fills_budget(); }
  std::size_t points_of_repeat() const;
  int jobs_total() const;  // over all points
};

/// Why no further job is to begin: a signal came, or the time budget is over. Empty: one may.
std::string why_to_stop(const MeasurePlan& plan);

}  // namespace sonde
