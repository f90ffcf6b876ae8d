// NUMA locality by hwloc.
#include "fleet/bind_cpu.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <cstdlib>
#include <memory>

namespace sonde {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

/// Nothing if hwloc cannot read this machine.
Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

std::string print(hwloc_const_bitmap_t cpus) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, cpus) < 0) return "?";
  std::string result = text;
  std::free(text);
  return result;
}

}  // namespace

std::string bind_near_device(const std::string& pci_bus_id) {
  const Topology topology = load_topology();
  if (!topology) return "not bound to CPUs near the GPU (hwloc cannot read this machine)";
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), pci_bus_id.c_str());
  if (!device) {
    return fmt::format("not bound to CPUs near the GPU (no PCI device {} on this machine)",
                       pci_bus_id);
  }
  const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology.get(), device);
  const Bitmap given(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  const Bitmap cpus(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  hwloc_get_cpubind(topology.get(), given.get(), HWLOC_CPUBIND_PROCESS);
  hwloc_bitmap_and(cpus.get(), given.get(), near->cpuset);
  if (hwloc_bitmap_iszero(cpus.get())) {
    return fmt::format("not bound to CPUs near the GPU (its CPUs {} are not among those given, {})",
                       print(near->cpuset), print(given.get()));
  }
  if (hwloc_set_cpubind(topology.get(), cpus.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return "not bound to CPUs near the GPU (the system does not allow it)";
  }
  return fmt::format("bound to CPUs {} near the GPU", print(cpus.get()));
}

}  // namespace sonde
