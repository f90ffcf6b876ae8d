// Who is out: a finding needs statistical and practical significance, and says honestly how much n
// devices can tell.
#pragma once

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/series.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sonde {

/// The tolerance for a metric: the longest prefix among the options, else the default.
Tolerance tolerance_for(std::string_view metric, const ReduceOptions& options);

/// Whether a difference of that sign is one for the worse; never where no direction is better.
bool is_worse(Better better, double difference);

/// Findings of all series that are compared; a note for each whose replicates scatter too much to
/// be judged. Fewer than 9 devices: tolerance, and clear of the group's own scatter;
/// from 9: the calibrated cut too; from 16: Benjamini-Hochberg over everything too. Two devices, or
/// a group that falls into equal halves: all are named, and that nobody can tell which is wrong.
/// Deviations for the better, and metrics without a better direction, give information only.
///
/// Series come one after the other, and need not stay: of a large fleet they have millions of
/// samples.
class SeriesJudge {
 public:
  /// Both outlive the judge.
  SeriesJudge(const RunResult& run, const ReduceOptions& options);

  /// @pre statistics = describe(series, ...)
  void add(const Series& series, const MetricStatistics& statistics);

  /// In the order of the series; once, when all are there.
  std::vector<FleetFinding> take();

 private:
  /// A sample that may be named.
  struct Outlier {
    std::size_t sample = 0;
    std::optional<std::size_t> test;  // of its p-value
  };
  struct Doubted {
    FleetFinding finding;
    std::optional<std::size_t> test;  // that must be a discovery, if it depends on one
  };

  void add_all(std::vector<FleetFinding> findings);
  std::vector<Outlier> test(const std::vector<Standing>& places);
  const ScoreTail& tail_of(std::size_t n);
  void judge_group(const Series& series, const MetricStatistics& statistics,
                   const std::vector<Standing>& places, const std::vector<Outlier>& outliers);

  const RunResult& run_;
  const ReduceOptions& options_;
  std::vector<Doubted> findings_;
  std::size_t tests_ = 0;
  std::vector<double> p_values_;  // of those that may be discoveries
  std::map<std::size_t, ScoreTail> tails_;
};

}  // namespace sonde
