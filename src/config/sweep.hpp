// The points of a run: one after the other, each device is measured with the options of each. Pure.
#pragma once

#include "config/run_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// An option and the values that it takes, as texts.
struct SweepAxis {
  std::string option;  // of a run, or of a job: "latency.carveout_bytes"
  std::vector<std::string> values;
};

/// Options of one point.
struct SweepPoint {
  RunOptions options;  // without repeats and sweep
  std::uint64_t repeat_index = 0;
  std::vector<std::string> at;  // the value of each axis
};

struct SweepLayout {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  // at least one
};

/// "seed=1,2,7", "sms=17;20,21" (by semicolon where values hold commas), "x=8:64:8" (from, to,
/// step; the end belongs to it), "x=1KiB:64MiB:*2" (each so many times the one before).
/// @throws ConfigError
SweepAxis parse_axis(const std::string& text);

/// The axis with the SMs of a GPU in the place of "each" (0; 1; 2; ...) or "pairs" (0-1; 2-3; ...:
/// the SMs of a TPC, which every GPU since Pascal numbers so); any other as it is.
std::string name_sms_of(const std::string& axis, int sm_count);

/// All points of a run: repeat after repeat, so that a run that stops early has whole sweeps; in
/// each the first axis changes slowest. A run without repeats and sweep has one point.
/// @throws ConfigError for an axis that is none, a value that its option cannot have, axes of
///   several lengths in `zip`, or more than `most_points`
SweepLayout lay_out_sweep(const RunOptions& options);

/// What the points of the run have in common: parts of runs with the same can be merged. Hash of
/// sonde's version, the names of the axes, and the options that decide the results, but for the
/// seed and those that the axes set.
std::string hash_common_options(const RunOptions& options, const std::vector<SweepAxis>& axes);

}  // namespace sonde
