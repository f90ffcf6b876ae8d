// The registry of metrics: each name of a finding, once. `sonde list metrics` prints it;
// docs/metrics.md is generated from it.
#pragma once

#include "analysis/metric_kind.hpp"

#include <span>
#include <string_view>

namespace sonde {

struct Metric {
  std::string_view name;
  std::string_view unit;  // "byte", "cycle", "1/cycle", ...; "1": a number, "": a text
  MetricKind kind;
  Better better;
  std::string_view job;
  std::string_view meaning;
  std::string_view source;             // of the method or the definition
  std::string_view not_compared = "";  // why devices are not compared by it; empty: they are
  /// Fractions: smaller deviations give no warning, or no failure. 3 % is three times the usual
  /// scatter between healthy GPUs of one model; at 5 % SuperBench and AWS call a node bad.
  double warn = 0.03;
  double fail = 0.05;
};

std::span<const Metric> all_metrics();

/// nullptr if no metric has this name.
const Metric* find_metric(std::string_view name, std::span<const Metric> registry = all_metrics());

}  // namespace sonde
