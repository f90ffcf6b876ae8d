// Charges on the ground of peers: devices that are out of their group in one number.
#pragma once

#include "analysis/fleet/calibration.hpp"
#include "analysis/fleet/series.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace sonde {

/// Judges series after series (docs/fleet-analysis.md). Who is worse than the majority is charged.
/// Where no majority agrees, or somebody is clearly better than it, all devices of the group are
/// warned, and the parts into which it falls are named: nobody can tell which of them is right.
/// From 16 devices on, a charge must also be a discovery among all series and devices (Benjamini
/// and Hochberg 1995). A note says which metrics scatter too much to be judged.
///
/// Series need not stay: of a large fleet they have millions of samples.
class PeerJudge {
 public:
  /// Both outlive the judge.
  PeerJudge(const RunResult& run, const ReduceOptions& options) : run_(run), options_(options) {}

  /// @pre statistics = describe(series, ...)
  void add(const Series& series, const MetricStatistics& statistics);

  /// In the order of the series; once, when all are there.
  std::vector<Charge> take();

 private:
  struct Doubted {
    Charge charge;
    std::optional<std::size_t> test;  // that must be a discovery, if it depends on one
  };

  std::optional<std::size_t> test(double score, std::size_t n);
  const ScoreTail& tail_of(std::size_t n);
  double least_score(std::size_t n);
  void charge_all(const Series& series, std::optional<std::size_t> test);
  void charge_outliers(const Series& series, const MetricStatistics& statistics);

  const RunResult& run_;
  const ReduceOptions& options_;
  std::vector<Doubted> charges_;
  std::size_t tests_ = 0;
  std::vector<double> p_values_;
  std::map<std::size_t, ScoreTail> tails_;
};

}  // namespace sonde
