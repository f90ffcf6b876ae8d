// Instants and spans by the system's clock of a node, the same for all of its processes: what those
// who measure its GPUs together agree on, or why they do not.
#pragma once

#include <cstdint>
#include <string>

namespace sonde {

struct TimeSpan {
  std::int64_t begin_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
};

/// When all begin, or why there is no such time.
struct Appointment {
  std::int64_t begin_unix_ns = 0;
  std::string refusal = {};
};

/// The time in which all were at work, or why there was none.
struct Overlap {
  TimeSpan span = {};
  std::string refusal = {};
};

}  // namespace sonde
