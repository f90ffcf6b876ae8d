// Options of single jobs (`--set latency.carveout_bytes=64KiB`): each job declares its own, with
// unit and range; what a run sets comes to the job as JobRun::settings.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace sonde {

struct JobOption {
  std::string_view name;  // unit last, as in the names of metrics
  std::string_view unit;  // "": a text
  double least = 0;       // of a number, which is whole
  double most = 0;
  std::span<const std::string_view> choices = {};  // of a text
  std::string_view usual;                          // what the job does where it is not set
  std::string_view help;
};

/// Values of the options of one job that are set: numbers as plain digits.
using JobSettings = std::map<std::string, std::string, std::less<>>;

}  // namespace sonde
