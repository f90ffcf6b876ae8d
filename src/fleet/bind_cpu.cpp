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
Topology load_topology(hwloc_type_filter_e devices) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Topology topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, devices);
  if (hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

/// Open MPI 4 binds ranks by default, and tells so; --bind-to shows as the policy.
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

/// One device of this machine. The sets are null when there is a problem.
struct Neighbourhood {
  Topology topology{nullptr, hwloc_topology_destroy};
  Bitmap given{nullptr, hwloc_bitmap_free};
  Bitmap near{nullptr, hwloc_bitmap_free};
  Bitmap usable{nullptr, hwloc_bitmap_free};
  std::string problem{};
};

Neighbourhood look_around(const std::string& pci_bus_id) {
  Neighbourhood place{.topology = load_topology(HWLOC_TYPE_FILTER_KEEP_ALL)};
  if (!place.topology) {
    place.problem = "hwloc cannot read this machine";
    return place;
  }
  const hwloc_topology_t topology = place.topology.get();
  const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, pci_bus_id.c_str());
  if (!device) {
    place.problem = fmt::format("no PCI device {} on this machine", pci_bus_id);
    return place;
  }
  place.near.reset(hwloc_bitmap_dup(hwloc_get_non_io_ancestor_obj(topology, device)->cpuset));
  place.given = find_given_cpus(topology);
  place.usable.reset(hwloc_bitmap_alloc());
  hwloc_bitmap_and(place.usable.get(), place.given.get(), place.near.get());
  return place;
}

}  // namespace

int count_allowed_cpus() {
  const Topology topology = load_topology(HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology ? hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(topology.get())) : 0;
}

int count_given_cpus() {
  const Topology topology = load_topology(HWLOC_TYPE_FILTER_KEEP_NONE);
  return topology ? hwloc_bitmap_weight(find_given_cpus(topology.get()).get()) : 0;
}

NearCpus find_near_cpus(const std::string& pci_bus_id) {
  const Neighbourhood place = look_around(pci_bus_id);
  if (!place.problem.empty()) return {.problem = place.problem};
  return {.near = print(place.near.get()), .usable = print(place.usable.get())};
}

std::string bind_near_device(const std::string& pci_bus_id) {
  const Neighbourhood place = look_around(pci_bus_id);
  if (!place.problem.empty()) {
    return fmt::format("not bound to CPUs near the GPU ({})", place.problem);
  }
  const hwloc_const_bitmap_t cpus = place.usable.get();
  if (hwloc_bitmap_iszero(cpus)) {
    return fmt::format("not bound to CPUs near the GPU (its CPUs {} are not among those given, {})",
                       print(place.near.get()), print(place.given.get()));
  }
  if (hwloc_set_cpubind(place.topology.get(), cpus, HWLOC_CPUBIND_PROCESS) != 0) {
    return "not bound to CPUs near the GPU (the system does not allow it)";
  }
  return fmt::format("bound to CPUs {} near the GPU", print(cpus));
}

}  // namespace sonde
