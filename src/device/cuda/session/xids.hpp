// Xid errors of a GPU, from the log of the Linux kernel: the driver leaves them nowhere else for a
// process that did not wait for them (NVIDIA, XID Errors).
#pragma once

#include "trace/links.hpp"

#include <string>
#include <string_view>

namespace sonde::cuda {

/// The Xid errors of one GPU in records of /dev/kmsg ("priority,number,microseconds,flags;text").
/// @param pci_bus_id domain:bus:device.function
XidLog find_xids(std::string_view log, std::string_view pci_bus_id);

/// Reads the log. @param path a file of such records
XidLog read_xids(std::string_view pci_bus_id, const std::string& path = "/dev/kmsg");

}  // namespace sonde::cuda
