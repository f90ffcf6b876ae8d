// What a sweep was started for: how the metrics of its jobs change with what was swept.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/table.hpp"
#include "base/units.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sonde {

/// A metric of one model of GPU at one setting.
struct SweptValue {
  std::size_t gpus = 0;  // that have a number there; 0: none, and the rest says nothing
  double median = 0;     // of the GPUs
  double low = 0;        // smallest and largest of them; of one GPU its value and its deviation
  double high = 0;       // (of replicates, else of samples) to both sides
  double deviation = 0;  // the median of those of the GPUs
};

struct SweptMetric {
  const Metric* metric = nullptr;
  std::vector<SweptValue> values;  // by setting
  double change = 0;               // largest minus smallest median, as a part of the largest
};

struct SweptModel {
  std::string name;  // "NVIDIA H200, 140 GiB, ECC on"
  std::size_t gpus = 0;
  std::vector<SweptMetric> metrics = {};  // what changed, most first
  std::vector<std::string> steady = {};   // what did not: "latency.ca.l1_cycles 32 cycle"
};

struct SweepAnswer {
  std::vector<std::string> axes;  // names of what was swept
  std::vector<std::vector<std::string>>
      settings;  // in the order of the sweep, a text for each axis
  std::vector<SweptModel> models;
};

/// The numbers of the jobs that were asked for by name (or, if none was, of all) that were measured
/// at several settings. One changed if its medians differ by more than 1 % and by more than three
/// times their deviation. Without a sweep there is nothing.
/// @pre run = centre_of_repeats(run)
SweepAnswer answer_sweep(const RunResult& run, const FleetAnalysis& analysis);

/// In which tables and charts show the values of a metric.
DisplayUnit unit_of(const SweptMetric& swept);

/// The axis with most values, of several the first. @pre there is one
std::size_t longest_axis(const SweepAnswer& answer);

/// Of a model, the columns that a person looks through.
inline constexpr std::size_t most_swept_metrics = 12;

/// "NVIDIA H200, 140 GiB, ECC on, 2 GPUs, median +- deviation", and that rows are left out.
std::string heading_of(const SweepAnswer& answer, const SweptModel& model);

/// Rows are settings, columns the metrics [first, first + count) of the model. Of a long sweep,
/// rows go along its longest axis, one combination of the others after the other, and those at
/// which no metric differs from the row before are left out: of a staircase its steps are left.
TextTable sweep_table(const SweepAnswer& answer, const SweptModel& model, std::size_t first,
                      std::size_t count);

}  // namespace sonde
