// Finds lines of one slice: they wait while co-runners make reductions on one of them. Repeats this
// until all lines of a page have a label. Method: docs/methods/slices.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Effect of reductions on one line on the loads of some lines.
struct WaitingLines {
  std::vector<bool> waits;    // one for each line
  double wait_cycles = 0;     // delay of the line itself, beyond the delay of all lines
  double scatter_cycles = 0;  // standard deviation of the lines that do not wait
  bool is_clear = false;      // the line's delay is far larger than the scatter
};

/// Cuts the delays in the widest gap between the common delay and that of the reductions' own line;
/// lines above the cut wait. A line may wait for several rounds of a queue: on an H200 lines of one
/// slice waited 390 to 1,400 cycles longer, other lines at most 13. A delay that three quarters of
/// the lines share belongs to the path to all lines, not to a slice.
/// @param alone, contended latencies of the lines without and with co-runners
/// @param own index of the line on which the reductions are made
WaitingLines find_waiting_lines(std::span<const double> alone, std::span<const double> contended,
                                std::size_t own);

/// Latencies of the lines with these numbers while co-runners make reductions on line `own`.
using ContendedLatencies =
    std::function<std::vector<double>(const std::vector<std::size_t>& lines, std::size_t own)>;

struct SliceLabels {
  std::vector<std::uint32_t> labels;  // of each line: from 0 on, or unknown_slice
  std::uint32_t slices = 0;
  double wait_cycles = 0;  // median over the slices
  std::string reason;      // why there are no slices
};

/// Takes a line without a label, labels it and all lines that wait with it, and repeats. Takes the
/// fastest line each time: reductions on a line far from the load's SM make lines of two slices
/// wait, those on a near line do not. Labels with few lines are no slices; their lines stay
/// unknown.
/// @param alone latencies without co-runners
SliceLabels label_lines(std::span<const double> alone, const ContendedLatencies& ask);

}  // namespace sonde
