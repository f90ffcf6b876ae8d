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
Topology load_topology(hwloc_type_filter_e devices) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, devices);
  if (hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

/// True if Open MPI 4 bound this rank by default and not for --bind-to, which sets the policy.
bool is_bound_by_default() {
  return std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr &&
         std::getenv("OMPI_MCA_hwloc_base_binding_policy") == nullptr;
}

Bitmap find_given_cpus(hwloc_topology_t topology) {
  Bitmap given(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)), hwloc_bitmap_free);
  if (!is_bound_by_default()) {
    hwloc_get_cpubind(topology, given.get(), HWLOC_CPUBIND_PROCESS);
  }
  return given;
}

std::string print(hwloc_const_bitmap_t cpus) {
  char* text = nullptr;
  if (hwloc_bitmap_list_asprintf(&text, cpus) < 0) return "?";
  std::string result = text;
  std::free(text);
  return result;
}

}  // namespace

int count_given_cpus() {
  const Topology topology = load_topology(HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology ? hwloc_bitmap_weight(find_given_cpus(topology.get()).get()) : 0;
}

std::string bind_near_device(const std::string& pci_bus_id, Bound whom) {
  const Topology topology = load_topology(HWLOC_TYPE_FILTER_KEEP_ALL);
  if (!topology) return "not bound to CPUs near the GPU (hwloc cannot read this machine)";
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), pci_bus_id.c_str());
  if (!device) {
    return fmt::format("not bound to CPUs near the GPU (no PCI device {} on this machine)",
                       pci_bus_id);
  }
  const hwloc_const_bitmap_t near = hwloc_get_non_io_ancestor_obj(topology.get(), device)->cpuset;
  const Bitmap given = find_given_cpus(topology.get());
  const Bitmap usable(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  hwloc_bitmap_and(usable.get(), given.get(), near);
  if (hwloc_bitmap_iszero(usable.get())) {
    return fmt::format("not bound to CPUs near the GPU (its CPUs {} are not among those given, {})",
                       print(near), print(given.get()));
  }
  const int flags = whom == Bound::process ? HWLOC_CPUBIND_PROCESS : HWLOC_CPUBIND_THREAD;
  if (hwloc_set_cpubind(topology.get(), usable.get(), flags) != 0) {
    return "not bound to CPUs near the GPU (the system does not allow it)";
  }
  return fmt::format("bound to CPUs {} near the GPU", print(usable.get()));
}

}  // namespace sonde
