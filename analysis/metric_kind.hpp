// What sort of value a metric has, and which way is better: what rows of the registry say and what
// comparisons between devices go by.
#pragma once

namespace sonde {

/// Structural values are compared exactly between devices, continuous ones by statistics;
/// fingerprints differ between healthy devices (per-SM maps) and are compared by summaries only. A
/// capacity is structural, but its edge may be gradual: then it is an interval, and two that
/// overlap agree.
enum class MetricKind { structural, capacity, continuous, fingerprint, inventory };
enum class Better { neither, lower, higher };

/// What devices vote on, instead of being scored.
constexpr bool is_structure(MetricKind kind) {
  return kind == MetricKind::structural || kind == MetricKind::capacity;
}

}  // namespace sonde
