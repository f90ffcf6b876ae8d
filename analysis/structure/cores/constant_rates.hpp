// Conclusions from streams of constants: bytes per cycle of a launch, the plateau against the
// number of blocks, and the group of SMs that shares the bottleneck. For
// jobs/constant_throughput.cpp.
#pragma once

#include "trace/trace.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sonde {

/// Bytes per cycle of all lanes together, until the last lane ends: less than the true rate if some
/// end early. NaN without lanes or durations.
/// @param load_bytes bytes of one load
double total_bytes_per_cycle(std::span<const LaneTrace> lanes, double load_bytes);

/// The number of blocks from which on a curve is level: all rates within 7 % of their median, and
/// the last number of blocks at least 1.5 times the first. Nothing if the rate still rises.
/// @param blocks ascending, one for each rate
std::optional<double> find_plateau(std::span<const double> blocks, std::span<const double> rates);

/// Rate of each SM, depending on the SMs that work with it. NaN: unknown.
struct GroupRates {
  double alone = 0;
  double in_tpc = 0;  // all SMs of its TPC work
  double in_gpc = 0;
  double in_all = 0;
};

/// "sm", "tpc", "gpc" or "device": the smallest group whose SMs get no more when it works alone
/// than when all SMs work: it contains the bottleneck. "gpc or device" if GPCs are unknown. Nothing
/// if the rates are unclear or TPCs unknown.
std::optional<std::string_view> find_bottleneck(const GroupRates& rates);

}  // namespace sonde
