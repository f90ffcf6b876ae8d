// What sort of value a metric has, and which way is better: what rows of the registry say and what
// comparisons between devices go by.
#pragma once

namespace sonde {

/// Structural values are compared exactly between devices, continuous ones by statistics;
/// fingerprints differ between healthy devices (per-SM maps) and are compared by summaries only.
enum class MetricKind { structural, continuous, fingerprint, inventory };
enum class Better { neither, lower, higher };

}  // namespace sonde
