// What the plays of control flow share.
#pragma once

#include "device/sim/play/launch.hpp"

namespace sonde::sim {

/// @throws DeviceError if the model declares nothing of control flow
const ControlModel& declared_control(const Launch& launch);

/// What the clock of that SM shows so many cycles after time 0.
std::uint64_t read_sm_clock(const Launch& launch, int sm, std::uint64_t cycles);

}  // namespace sonde::sim
