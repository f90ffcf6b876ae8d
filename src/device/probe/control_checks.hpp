// Descriptions and checks of the probes of control flow, for describe_probe and validate_probe.
#pragma once

#include "device/probe/control_probe.hpp"

#include <nlohmann/json_fwd.hpp>

namespace sonde {

nlohmann::json describe(const BranchProbe& probe);
nlohmann::json describe(const WaitProbe& probe);
nlohmann::json describe(const BarrierProbe& probe);
nlohmann::json describe(const SleepProbe& probe);
nlohmann::json describe(const OccupancyProbe& probe);

/// These throw Error naming the field.
void check(const BranchProbe& probe, int sm_count);
void check(const WaitProbe& probe, int sm_count);
void check(const BarrierProbe& probe, int sm_count);
void check(const SleepProbe& probe, int sm_count);
void check(const OccupancyProbe& probe, int sm_count);

}  // namespace sonde
