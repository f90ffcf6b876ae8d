// The GPUs of a node, for jobs that measure between them, and how their jobs take turns. Jobs know
// no MPI ranks; the caller of such a job provides these functions.
#pragma once

#include "device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// In time of the node's clock.
struct TimeSpan {
  std::int64_t begin_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
};

/// When all jobs begin together, or why there is no such time.
struct Appointment {
  std::int64_t begin_unix_ns = 0;
  std::string refusal = {};
};

/// The time in which all GPUs were at work (its end may lie before its begin), or why that time is
/// not known.
struct Overlap {
  TimeSpan span = {};
  std::string refusal = {};
};

/// How one GPU takes part in what the GPUs of a node do one after the other and then together. GPUs
/// that are gone are passed over. A job calls each function at most once, in this order. A call
/// that waits throws when the job's time is over.
struct NodeTurns {
  /// Waits until the other GPUs are ready and the GPUs before this one have had their turn.
  std::function<void()> begin;
  std::function<void()> end;
  /// When all begin together; a refusal if one GPU does not take part.
  std::function<Appointment()> meet;
  /// @param own from the first to the last measurement of this GPU
  std::function<Overlap(TimeSpan own)> compare;
};

struct NodeGpus {
  std::vector<NodeGpu> gpus = {};  // by rank, including this GPU
  std::size_t own = 0;             // index of this GPU
  NodeTurns turns = {};            // set if there are two GPUs or more
};

}  // namespace sonde
