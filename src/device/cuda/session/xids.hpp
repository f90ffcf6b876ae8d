// Xid errors of a GPU, from the kernel's log: the only place where the driver leaves them for
// others than those who waited for them (NVIDIA, XID Errors).
#pragma once

#include "trace/links.hpp"

#include <string>
#include <string_view>

namespace sonde::cuda {

/// Those of one GPU in records as /dev/kmsg gives them ("priority,number,microseconds,flags;text").
/// @param pci_bus_id domain:bus:device.function
XidLog find_xids(std::string_view log, std::string_view pci_bus_id);

/// Reads the log. @param path a file of such records
XidLog read_xids(std::string_view pci_bus_id, const std::string& path = "/dev/kmsg");

}  // namespace sonde::cuda
