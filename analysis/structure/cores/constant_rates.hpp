// What streams of constants say: bytes per cycle of a launch, where more blocks bring no more, and
// which group of SMs shares what limits them. Input of jobs/constant_throughput.cpp.
#pragma once

#include "trace/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sonde {

/// Bytes per cycle of all lanes together, until the last of them had ended: less than the rate in
/// between, if some end early. NaN without lanes or durations.
/// @param load_bytes that one load brings
double total_bytes_per_cycle(std::span<const LaneTrace> lanes, double load_bytes);

/// Where a curve of rates rises no more.
struct Plateau {
  double bytes_per_cycle = 0;  // median of its points
  double first_blocks = 0;     // number of blocks at which it begins
};

/// The plateau at the end of the curve: all rates within 7 % of their median, over half as many
/// blocks again at least. Nothing if there is none: the rate still rises.
/// @param blocks ascending; as many as rates
std::optional<Plateau> find_plateau(std::span<const double> blocks, std::span<const double> rates);

/// What each SM gets, by who works beside it. NaN: not known.
struct GroupRates {
  double alone = 0;
  double in_tpc = 0;  // all SMs of its TPC work
  double in_gpc = 0;
  double in_all = 0;
};

/// "sm", "tpc", "gpc" or "device": the smallest group that gets no more by itself than when all SMs
/// work, so that what limits it lies within; "gpc or device" if GPCs are not known. Nothing if
/// rates differ too little to say so, or TPCs are not known.
std::optional<std::string_view> find_bottleneck(const GroupRates& rates);

}  // namespace sonde
