// What has no answer: collected while the findings are there, as a large fleet has millions.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace sonde {

/// By job, status and reason.
using Gaps = std::map<std::tuple<std::string, std::string, std::string>, Gap, std::less<>>;

/// Adds gaps of all jobs, or of one: how they ended and their findings. The same may be added
/// again.
/// @param run of every call the same
void add_gaps(const RunResult& run, std::string_view job, Gaps& gaps);

}  // namespace sonde
