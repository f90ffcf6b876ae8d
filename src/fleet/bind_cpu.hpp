// Moves this process next to its GPU, so that host work does not cross sockets.
#pragma once

#include <string>

namespace sonde {

/// Binds to the CPUs near that PCI device, of those the launcher gave. Returns what was done, or
/// why nothing was, for the log; never an error.
std::string bind_near_device(const std::string& pci_bus_id);

}  // namespace sonde
