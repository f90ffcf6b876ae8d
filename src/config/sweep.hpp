// The points of a run. Each device is measured with the options of each point in turn. Pure code.
#pragma once

#include "config/run_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// An option that varies, and its values as texts.
struct SweepAxis {
  std::string option;  // an option of the run, or of a job: "latency.carveout_bytes"
  std::vector<std::string> values;
};

/// The options of one point.
struct SweepPoint {
  RunOptions options;  // without repeats and sweep
  std::uint64_t repeat_index = 0;
  std::vector<std::string> at;  // the value of each axis
};

struct SweepLayout {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  // at least one
};

/// Parses an axis: "seed=1,2,7", "sms=17;20,21" (semicolons if values hold commas), "x=8:64:8"
/// (from, to and step; `to` is included), or "x=1KiB:64MiB:*2" (each is twice the one before).
/// @throws ConfigError
SweepAxis parse_axis(const std::string& text);

/// Replaces "each" in an axis by the SMs of a GPU (0; 1; 2; ...), or "pairs" by neighbours (0-1;
/// 2-3; ...). Such a pair is a TPC on every GPU since Pascal. Other axes stay as they are.
std::string name_sms_of(const std::string& axis, int sm_count);

/// All points of a run, repeat after repeat, so that a run that stops early has complete sweeps. In
/// each repeat the first axis changes slowest. Without repeats and sweep there is one point.
/// @throws ConfigError for a text that is no axis, a value that its option cannot have, axes of
/// different lengths in `zip`, or more than `most_points`
SweepLayout lay_out_sweep(const RunOptions& options);

/// Hash of the options that all points of the run share; runs with the same hash can be merged. It
/// covers sonde's version, the names of the axes, and the options that decide the results, except
/// the seed and those that the axes set.
std::string hash_common_options(const RunOptions& options, const std::vector<SweepAxis>& axes);

}  // namespace sonde
