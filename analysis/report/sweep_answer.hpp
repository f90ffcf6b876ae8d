// The result of a sweep: how the metrics of its jobs change with the varied options.
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
  std::size_t gpus = 0;  // with a number there; 0: the other members mean nothing
  double median = 0;     // of the GPUs
  double low = 0;        // least value of the GPUs; of a single GPU its value minus its deviation
  double high = 0;       // largest value; of a single GPU its value plus its deviation
  double deviation = 0;  // median over the GPUs
};

struct SweptMetric {
  const Metric* metric = nullptr;
  std::vector<SweptValue> values;  // by setting
  double change = 0;               // (largest median - smallest median) / largest
};

struct SweptModel {
  std::string name;  // "NVIDIA H200, 140 GiB, ECC on"
  std::size_t gpus = 0;
  std::vector<SweptMetric> metrics = {};  // metrics that change, largest change first
  std::vector<std::string> steady = {};   // metrics that do not: "latency.ca.l1_cycles 32 cycle"
};

struct SweepAnswer {
  std::vector<std::string> axes;  // names of the varied options
  std::vector<std::vector<std::string>>
      settings;  // in the order of the sweep, a text for each axis
  std::vector<SweptModel> models;
};

/// The numbers that were measured at several settings, of the jobs that were named (or of all). A
/// metric changes if its medians differ by more than 1 % and more than three times their deviation.
/// Empty without a sweep.
/// @pre run = centre_of_repeats(run)
SweepAnswer answer_sweep(const RunResult& run, const FleetAnalysis& analysis);

/// The unit in which tables and charts show a metric.
DisplayUnit unit_of(const SweptMetric& swept);

/// The axis with most values; of several the first. @pre there is an axis
std::size_t longest_axis(const SweepAnswer& answer);

/// Most columns of a table of one model.
inline constexpr std::size_t most_swept_metrics = 12;

/// "NVIDIA H200, 140 GiB, ECC on, 2 GPUs, median +- deviation"; says if rows are left out.
std::string heading_of(const SweepAnswer& answer, const SweptModel& model);

/// Rows are settings, columns the metrics [first, first + count) of the model. In a long sweep,
/// rows follow its longest axis, for each combination of the others; rows in which no metric
/// differs from the row before are left out, so a staircase shows only its steps.
TextTable sweep_table(const SweepAnswer& answer, const SweptModel& model, std::size_t first,
                      std::size_t count);

}  // namespace sonde
