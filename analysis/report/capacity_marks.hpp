// Marks of the capacities that were found, above charts of latency against bytes.
#pragma once

#include "analysis/results.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace sonde {

struct NamedCapacity {
  std::string metric;
  std::string name;  // "L1"
};

/// The bytes that a chart's x axis shows, and how.
struct ByteAxis {
  enum class Kind { linear, log2 };
  double smallest_bytes = 0;
  double largest_bytes = 0;
  Kind kind = Kind::log2;
  double width_px = 860;

  bool has(double bytes) const { return bytes >= smallest_bytes && bytes <= largest_bytes; }
};

/// [{"bytes", "label": "L1 192 KiB", "tlb", "line"}] of those that lie within the axis, ascending.
/// Labels stand in as few lines as there is room for.
nlohmann::ordered_json capacity_marks(const DeviceResult& device,
                                      std::span<const NamedCapacity> capacities,
                                      const ByteAxis& axis);

}  // namespace sonde
