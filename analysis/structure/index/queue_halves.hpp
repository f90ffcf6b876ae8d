// Whether the lines of one queue of a cache lie in two slices of it: a second slice has another
// place on the chip, so that SMs see it at other distances. Input are latencies of some lines of
// each queue from many SMs. Method: docs/methods/slices.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// A line of a page, the queue that it waits in (slice_labels.hpp), and its latency by SM.
struct LineLatencies {
  std::uint64_t line = 0;
  std::uint32_t queue = 0;
  std::vector<double> cycles_by_sm;
};

enum class SlicesOfQueue { unknown, one, two };

/// How many slices each queue serves, and by which mask of line number bits.
struct QueueHalves {
  SlicesOfQueue slices = SlicesOfQueue::unknown;
  std::uint64_t mask = 0;      // of two, by its parity
  double agreement = 0;        // share of the pairs of lines that it explains
  std::size_t pairs = 0;       // of lines of one queue
  double apart_cycles = 0;     // mean difference by SM, beyond that of the means, of two lines: of
  double together_cycles = 0;  // two slices, and of one
  std::string reason;          // unknown: why
};

/// Parts the pairs of lines of one queue in near ones and far ones by how their latencies differ
/// from SM to SM, and finds the mask that is even on the former and odd on the latter. Of masks
/// that say the same of all queues, the smallest. Without such a mask a queue serves one slice, if
/// lines of different queues differ by more than lines of one.
/// @param line_bits the page has 2^line_bits lines
QueueHalves find_queue_halves(const std::vector<LineLatencies>& lines, int line_bits);

}  // namespace sonde
