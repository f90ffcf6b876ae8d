// Which devices of a group agree with each other: all are compared with these, so that a faulty
// device moves neither the reference nor the scatter that others are judged by.
#pragma once

#include "analysis/fleet/series.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde {

struct Majority {
  std::size_t members = 0;  // more than half of the devices
  double center = 0;        // their median
  double scale = 0;         // robust standard deviation of a healthy device
};

/// Starts with the densest half of the values and takes in all that lie within the cut, until
/// nothing changes (the shorth; Andrews et al. 1972, with the trimming of SuperBench, ATC'24).
/// Nothing if the densest half is wider than the tolerance at which a device fails (of two devices:
/// at which it warns), or if what agrees is not more than half.
/// Adding a device that lies outside, or moving one further out, changes neither center nor scale.
/// @pre two samples or more
std::optional<Majority> find_majority(const Series& series);

/// Groups of values between which lie gaps larger than the tolerance: indices into the samples,
/// those with the largest values first. @pre samples not empty
std::vector<std::vector<std::size_t>> parts_of(const Series& series);

/// fill_numbers, scale and cut by those that agree, and the three furthest out.
MetricStatistics describe(const Series& series);

/// All devices of the series, in its order. @pre statistics = describe(series, ...)
std::vector<Standing> standings(const Series& series, const MetricStatistics& statistics);

}  // namespace sonde
