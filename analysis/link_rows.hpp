// Rows of the registry of jobs that measure links: between the SMs of a cluster, to the host, and
// to other GPUs.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view luo_dsm = "Luo et al., arXiv 2402.13499; docs/methods/dsm.md";

inline constexpr Row dsm_rows[] = {
    {"dsm.latency_cycles", latency,
     "load from the shared memory of another block of the cluster, median over pairs of SMs"},
    {"dsm.own_cycles", latency, "the same from the block's own memory, by the same kernel"},
    {"dsm.same_tpc_cycles", latency, "from the other SM of the TPC"},
    {"dsm.same_gpc_cycles", latency, "from an SM of another TPC of the GPC"},
    {"dsm.pair_cycles", curve,
     "by the ranks of both blocks, row by row: all targets of the first reader, then of the next"},
    {"dsm.sm_cycles", curve, "by the SM that reads, mean over SMs of other TPCs"},
    {"dsm.cluster_blocks", list, "sizes of clusters that the next rows were measured with"},
    {"dsm.by_cluster_cycles", curve, "latency from other blocks with each of cluster_blocks"},
    {"dsm.bytes_per_cycle", sm_throughput, "one block alone reads the memory of another", luo_dsm},
    {"dsm.own_bytes_per_cycle", sm_throughput, "the same of its own memory, by the same kernel"},
    {"dsm.same_tpc_bytes_per_cycle", sm_throughput, "of the other SM of the TPC"},
    {"dsm.same_gpc_bytes_per_cycle", sm_throughput, "of an SM of another TPC of the GPC"},
    {"dsm.joint_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, neither},
     "of each block while all of them read their neighbours, with each of cluster_blocks", luo_dsm},
    {"dsm.joint_bytes_per_s", throughput, "of all blocks together, best size of clusters", luo_dsm},
};

inline constexpr std::string_view nvml = "NVML";
inline constexpr std::string_view xid_page = "NVIDIA, XID Errors";
inline constexpr std::string_view host_page = "docs/methods/host.md";
inline constexpr std::string_view shared_host =
    "ranks measure at the same time, and share the memory of the host and its switches";
inline constexpr Quantity link_property{"1", structural, higher};
/// Between processes on one healthy GPU copies both ways differ by up to 14 %, copies one way by up
/// to 9 % (docs/results/h100.md, 2026-11-25, d6f0fbfb).
inline constexpr Quantity host_copies{"byte/s", continuous, higher, 0.20, 0.50};

inline constexpr Row host_rows[] = {
    {"host.to_device_bytes_per_s", host_copies, "copies from pinned host memory, largest size"},
    {"host.from_device_bytes_per_s", host_copies, "copies to pinned host memory, largest size"},
    {"host.both_bytes_per_s", host_copies, "both at once, together, largest size"},
    {"host.copy_bytes", footprints, "sizes of the copies of the next rows"},
    {"host.to_device_by_size_bytes_per_s", rate_curve, "copies to the GPU, by copy_bytes"},
    {"host.from_device_by_size_bytes_per_s", rate_curve, "copies from the GPU, by copy_bytes"},
    {"host.both_by_size_bytes_per_s", rate_curve, "both at once, together, by copy_bytes each way"},
    {"host.latency_ns", Quantity{"ns", continuous, lower},
     "dependent load of the GPU from pinned host memory", host_page, shared_host},
    {"host.link_generation", link_property, "PCIe generation while copies run", nvml},
    {"host.link_width", link_property, "PCIe lanes while copies run", nvml},
    {"host.most_link_generation", link_property, "what GPU and slot can have together", nvml},
    {"host.most_link_width", link_property, "what GPU and slot can have together", nvml},
    {"host.link_bytes_per_s", Quantity{"byte/s", inventory, higher},
     "what that generation and width carry one way, less the line code",
     "PCI Express Base Specification"},
    {"host.pcie_replays", alarm, "PCIe packets sent again since the driver was loaded", nvml},
    {"host.new_pcie_replays", alarm, "of these, since the job device looked", nvml},
    {"host.nvlinks", link_property, "active NVLinks", nvml},
    {"host.nvlink_active", list, "1: active, NVLink by NVLink", nvml},
    {"host.nvlink_crc_errors", alarm, "CRC errors since the driver was loaded, by NVLink", nvml},
    {"host.nvlink_replays", alarm, "replays, likewise", nvml},
    {"host.nvlink_recoveries", alarm, "recoveries, likewise", nvml},
    {"host.new_nvlink_errors", alarm, "all of these of all NVLinks, since the job device looked",
     nvml},
    {"host.new_nvlink_errors_by_link", alarm, "the same by NVLink", nvml},
    {"host.xids", alarm, "codes of the Xid errors of this GPU in the kernel's log, in its order",
     xid_page},
    {"host.new_xids", alarm, "of these, since the job device looked", xid_page},
};

inline constexpr Quantity peer_rates{"byte/s", fingerprint, higher, 0.10, 0.25};

inline constexpr Row peer_rows[] = {
    {"peer.ranks", list,
     "ranks of the GPUs of the node that this run measured: the order of peer.*"},
    {"peer.link", label, "what carries loads to the other GPUs: nvlink, pcie"},
    {"peer.latency_cycles", curve, "dependent loads from the memory of each GPU of the node"},
    {"peer.read_bytes_per_s", peer_rates, "what all SMs read from the memory of each GPU"},
    {"peer.write_bytes_per_s", peer_rates, "what all SMs write to the memory of each GPU"},
    {"peer.both_ways_bytes_per_s", peer_rates,
     "the same of reads and writes at once, both directions together"},
    {"peer.all_at_once_bytes_per_s", peer_rates,
     "what it reads from the next GPU while all GPUs of the node do so"},
    {"peer.slowest", Quantity{"1", inventory, neither},
     "rank of the GPU whose link is slower than those to all others"},
};

}  // namespace sonde::registry
