// Moves this process, or a thread of it, next to its GPU, so that host work does not cross sockets.
#pragma once

#include <string>

namespace sonde {

/// CPUs that the launcher gave this process: those it is bound to, or all that the cgroup leaves it
/// where Open MPI bound it without being asked to, each of two ranks to one core. 0 if hwloc cannot
/// read this machine.
int count_given_cpus();

/// Whom to bind: all threads that this process has, or the one that asks.
enum class Bound { process, thread };

/// Binds to the CPUs near that PCI device, of those the launcher gave. Returns what was done, or
/// why nothing was, for the log; never an error.
std::string bind_near_device(const std::string& pci_bus_id, Bound whom);

}  // namespace sonde
