// A device of which jobs see some SMs only: one, a pair, those of a TPC. Every job can so run over
// placement, and none needs to know.
#pragma once

#include "device/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sonde {

/// SMs from texts such as "17" and "20-23", ascending, each once.
/// @throws ConfigError for what is no number or range
std::vector<int> parse_sms(const std::vector<std::string>& texts);

/// The device with these SMs alone, which probes number anew, from 0, in this order. What always
/// uses all SMs (copies in shared memory) is read on these; clusters are refused.
/// @param whole must outlive it
/// @throws DeviceError if the device lacks one of them
std::unique_ptr<Device> limit_to_sms(Device& whole, std::vector<int> sms);

}  // namespace sonde
