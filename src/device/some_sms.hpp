// A device of which jobs see only some SMs: one, a pair, those of a TPC. So any job can run on
// them.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// SMs from texts such as "17" and "20-23", ascending, each once.
/// @throws ConfigError for a text that is no number or range
std::vector<int> parse_sms(const std::vector<std::string>& texts);

/// The device with these SMs alone, which probes number from 0, in this order. Probes that always
/// use all SMs (copies in shared memory) return the lanes of these. Clusters, and streams of groups
/// or by the copy engine, are refused when they run.
/// @param whole must outlive it
/// @throws DeviceError if the device lacks one of them
std::unique_ptr<Device> limit_to_sms(Device& whole, std::vector<int> sms);

}  // namespace sonde
