// Binds this process or a thread to CPUs near its GPU, so that host work does not cross sockets.
#pragma once

#include <string>

namespace sonde {

/// The number of CPUs that the launcher gave this process: those it is bound to. If Open MPI bound
/// it by default (which gives each of two ranks one core): all CPUs of the cgroup. 0 if hwloc
/// cannot read this machine.
int count_given_cpus();

/// What to bind: all threads of this process, or the calling thread.
enum class Bound { process, thread };

/// Binds to those of the launcher's CPUs that are near the PCI device. Returns a line for the log:
/// what was done, or why nothing was done. Never throws.
std::string bind_near_device(const std::string& pci_bus_id, Bound whom);

}  // namespace sonde
