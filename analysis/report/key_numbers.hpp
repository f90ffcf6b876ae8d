// The numbers that people ask for first: measured, theoretical, and what other GPUs of the model
// gave.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/table.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Floating-point operations per second of all SMs; a multiply-add counts as two. The job measures
/// bursts of microseconds: what a GPU sustains at its power limit is less (job soak).
struct FlopRate {
  std::string name;              // "FP32", "FP16 matrices"
  double per_s = 0;              // at the measured SM clock
  double theoretical_per_s = 0;  // at the highest clock, with the next power of two of lanes
};
std::vector<FlopRate> flop_rates(const DeviceResult& device);

/// Rates and sizes of the devices of a group: the median, the least and the most of several, what
/// bus, clock or driver promise, the share of it, and the reference values of the model if there
/// are any. A row without a measured value is left out.
/// @param group into analysis.groups
TextTable key_number_table(const RunResult& run, const FleetAnalysis& analysis, std::size_t group);

/// Of a group what most of its devices say: a row for each cache, TLB and memory.
TextTable structure_summary(const RunResult& run, const ComparisonGroup& group);

}  // namespace sonde
