// The GPUs of a node for jobs that measure between them: who they are, and how those who measure
// them keep out of each other's way. Jobs know no ranks; whoever runs such a job provides this.
#pragma once

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// By the clock of the node.
struct TimeSpan {
  std::int64_t begin_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
};

/// When all begin, or why there is no such time.
struct Appointment {
  std::int64_t begin_unix_ns = 0;
  std::string refusal = {};
};

/// What the times have in common in which each was at work (it may end before it begins), or why
/// that is not known.
struct Overlap {
  TimeSpan span = {};
  std::string refusal = {};
};

/// One GPU's way through what the GPUs of a node do one after the other, and then together. Who is
/// gone is passed over. Each step is taken once, in this order, as far as the job comes; waiting
/// ends by an exception when the job's time is over.
struct NodeTurns {
  /// Waits until the others are ready and those before it have had their turn.
  std::function<void()> begin;
  std::function<void()> end;
  /// When all begin together. Nothing if one of them will not.
  std::function<Appointment()> meet;
  /// @param own from the first to the last measurement of this GPU
  std::function<Overlap(TimeSpan own)> compare;
};

struct NodeGpus {
  std::vector<NodeGpu> gpus = {};  // by rank, with this one
  std::size_t own = 0;             // its place among them
  NodeTurns turns = {};            // for two GPUs and more
};

}  // namespace sonde
