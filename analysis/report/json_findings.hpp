// Findings as JSON, written as text: a fleet has millions, and a tree of each takes longer than all
// else.
#pragma once

#include "analysis/metrics.hpp"
#include "analysis/results.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace sonde {

/// Members of an object, by metric, of all jobs of a device: each in a line of its own, indented
/// by so many blanks. Of a metric that occurs twice the last finding.
std::string json_findings(const DeviceResult& device, std::span<const Metric> registry,
                          std::size_t indent);

}  // namespace sonde
