// The registry of metrics: every name that a finding may have, once. `sonde list metrics` prints
// it and docs/metrics.md is generated from it.
#pragma once

#include "analysis/metric_kind.hpp"

#include <span>
#include <string_view>

namespace sonde {

struct Metric {
  std::string_view name;
  std::string_view unit;  // "byte", "cycle", "ns", "byte/s", "byte/cycle", "1" (plain), "" (text)
  MetricKind kind;
  Better better;
  std::string_view job;
  std::string_view meaning;
  std::string_view source;             // where the method or definition comes from
  std::string_view not_compared = "";  // why devices are not compared by it; "": they are
  /// Smaller deviations are no warning, or no failure; fractions. 3 %: three times the usual
  /// scatter between healthy GPUs of one model; 5 %: where SuperBench and AWS call a node bad.
  ///
  double warn = 0.03;
  double fail = 0.05;
};

std::span<const Metric> all_metrics();

/// nullptr if there is none of that name.
const Metric* find_metric(std::string_view name, std::span<const Metric> registry = all_metrics());

}  // namespace sonde
