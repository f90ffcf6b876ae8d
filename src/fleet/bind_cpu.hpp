// Moves this process next to its GPU, so that host work does not cross sockets.
#pragma once

#include <string>

namespace sonde {

/// CPUs as lists such as "0-23,96".
struct NearCpus {
  std::string near{};     // those near the PCI device
  std::string usable{};   // of these, those that the launcher gave this process; "" if none
  std::string problem{};  // why they are not known; then the others are empty
};

/// CPUs that the launcher gave this process: those it is bound to, or all that the cgroup leaves it
/// where Open MPI bound it without being asked to, each of two ranks to one core. 0 if hwloc cannot
/// read this machine.
int count_given_cpus();

/// Which CPUs are near that PCI device, and which of them this process may use.
NearCpus find_near_cpus(const std::string& pci_bus_id);

/// CPUs that the cgroup leaves to the processes of this node, whatever each of them is bound to; 0
/// if hwloc cannot read this machine.
int count_allowed_cpus();

/// Binds to the CPUs near that PCI device, of those the launcher gave. Returns what was done, or
/// why nothing was, for the log; never an error.
std::string bind_near_device(const std::string& pci_bus_id);

}  // namespace sonde
