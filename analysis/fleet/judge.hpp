// Who is out: a finding needs statistical and practical significance, and says honestly how much n
// devices can tell.
#pragma once

#include "analysis/fleet/series.hpp"

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
std::vector<FleetFinding> judge_series(const RunResult& run, const std::vector<Series>& all,
                                       const std::vector<MetricStatistics>& statistics,
                                       const ReduceOptions& options);

}  // namespace sonde
