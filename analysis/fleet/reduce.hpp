// From a run to its analysis: what rank 0 calls at the end of a run, and every report before it.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "base/exit_status.hpp"

namespace sonde {

/// The decision procedure of docs/fleet-analysis.md. Deterministic; never throws for data that a
/// run can contain.
FleetAnalysis reduce_fleet(const RunResult& run, const ReduceOptions& options = {});

/// `incomplete` for a device lost or findings missing, `verdict`, which goes before it, for a
/// failed device.
ExitStatus exit_status(const FleetAnalysis& analysis);

}  // namespace sonde
