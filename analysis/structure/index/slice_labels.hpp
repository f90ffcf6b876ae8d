// Which lines wait while co-runners make reductions on one line: those of its slice. Line by line
// that labels all lines of a page. Method: docs/methods/slices.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// What reductions on one line did to the loads of some lines.
struct WaitingLines {
  std::vector<bool> waits;    // of each line
  double wait_cycles = 0;     // of the line itself, beyond what all lines wait
  double scatter_cycles = 0;  // of lines that do not wait, one standard deviation
  bool is_clear = false;      // the line itself waits far longer than others scatter
};

/// Lines wait that lie above the widest gap between the common latency and that of the line of the
/// reductions. A line may wait for several rounds of a queue: on an H200 lines of one slice waited
/// 390 to 1,400 cycles longer, and none of the others more than 13. What three quarters
/// of the lines wait, or half of them, is not of a slice: it is that of the way to all of them.
/// @param alone, contended latencies of the lines without co-runners and with them
/// @param own place of the line that the reductions are made on
WaitingLines find_waiting_lines(std::span<const double> alone, std::span<const double> contended,
                                std::size_t own);

/// Latencies of the lines with these numbers, in their order, while co-runners make reductions on
/// one of them.
using ContendedLatencies =
    std::function<std::vector<double>(const std::vector<std::size_t>& lines, std::size_t own)>;

struct SliceLabels {
  std::vector<std::uint32_t> labels;  // of each line, from 0 on, or unknown_slice
  std::uint32_t slices = 0;
  double wait_cycles = 0;  // median over the slices
  std::string reason;      // no slices: why not
};

/// Takes a line whose slice is not known, asks which of the others wait with it, and so on. Each
/// time it is the fastest of them: reductions on a line that is far from the load's SM make lines
/// of two slices wait, those on a near line do not. Labels with few lines are no slices; their
/// lines stay unknown.
/// @param alone latencies without co-runners
SliceLabels label_lines(std::span<const double> alone, const ContendedLatencies& ask);

}  // namespace sonde
