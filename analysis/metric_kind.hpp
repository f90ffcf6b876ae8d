// Kinds of metrics, and the better direction: used by the registry and by comparisons of devices.
#pragma once

namespace sonde {

/// Structural values are compared exactly between devices, continuous values by statistics.
/// Fingerprints (per-SM maps) differ between healthy devices; only their summaries are compared. A
/// capacity is structural, but may be an interval if it is gradual: overlapping intervals agree.
enum class MetricKind { structural, capacity, continuous, fingerprint, inventory };
enum class Better { neither, lower, higher };

/// The devices of a group vote on these, instead of being scored.
constexpr bool is_structure(MetricKind kind) {
  return kind == MetricKind::structural || kind == MetricKind::capacity;
}

}  // namespace sonde
