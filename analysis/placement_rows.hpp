// Rows of the metric registry: per-SM values, slices, distributed shared memory, host, peers, soak.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Row placement_rows[] = {
    {"placement.l1_latency_cycles", sm_map, "L1 hit latency by SM"},
    {"placement.l2_latency_cycles", sm_map, "L2 hit latency by SM, over the same lines"},
    {"placement.dram_latency_cycles", sm_map, "latency of cold lines by SM"},
    {"placement.shared_latency_cycles", sm_map, "shared memory latency by SM"},
    {"placement.texture_latency_cycles", sm_map, "hit latency of texture fetches by SM"},
    {"placement.constant_latency_cycles", sm_map, "hit latency of constants by SM"},
    {"placement.code_latency_cycles", sm_map,
     "time of a block of code that was executed just before, by SM"},
    {"placement.constant_l2_latency_cycles", sm_map, "hits of the second cache of constants by SM"},
    {"placement.code_l1_latency_cycles", sm_map,
     "time of a block of code out of the second cache of code, by SM"},
    {"placement.l2_near_by_sm_cycles", sm_map, "L2 hits of the faster group of lines by SM"},
    {"placement.l2_far_by_sm_cycles", sm_map, "L2 hits of the slower group of lines by SM"},
    {"placement.dram_near_by_sm_cycles", sm_map, "cold lines of the faster group by SM"},
    {"placement.dram_far_by_sm_cycles", sm_map, "cold lines of the slower group by SM"},
    {"placement.read_bytes_per_cycle", sm_rate_map,
     "what each SM reads past the L1 while its whole TPC reads"},
    {"placement.read_dram_bytes_per_cycle", sm_rate_map,
     "what each SM reads from memory while its whole TPC reads"},
    {"placement.read_l1_bytes_per_cycle", sm_rate_map, "what each SM reads from its L1"},
    {"placement.copy_shared_bytes_per_cycle", sm_rate_map,
     "what each SM reads and writes in copies inside its shared memory"},
    {"placement.slowest_sm", of_one_die, "SM that is slower than its peers, beyond their scatter"},
    {"placement.slowest_tpc", of_one_die, "the same of TPCs"},
    {"placement.slowest_gpc", of_one_die, "the same of GPCs"},
    {"placement.l2_near_cycles", latency, "L2 hits, the faster of two groups of lines",
     "Jin et al., MICRO 2024"},
    {"placement.l2_far_cycles", latency, "L2 hits, the slower of two groups of lines",
     "Jin et al., MICRO 2024"},
    {"placement.dram_near_cycles", latency, "cold lines, the faster of two groups",
     "Luo et al., arXiv 2501.12084"},
    {"placement.dram_far_cycles", latency, "cold lines, the slower of two groups",
     "Luo et al., arXiv 2501.12084"},
};

inline constexpr Row slice_rows[] = {
    {"cache.l2.slices", count,
     "slices that the lines of a page lie in; of a divided L2, in each partition"},
    {"cache.l2.side_slices", list,
     "slices on the side of the chip that is near to SM 0, and on the other"},
    {"cache.l2.far_side_cycles", cycles, "how much longer hits take on the far side of the chip"},
    {"placement.side_of_sm", list,
     "side of the chip on which each SM has its near slices; that of SM 0 is 0"},
    {"cache.l2.slice_function", text, "from the address within a large page to the slice"},
    {"cache.l2.slice_wait_cycles", Quantity{"cycle", inventory, neither},
     "how long a load waits for reductions of other SMs on another line of its slice"},
    {"cache.l2.slice_latency_cycles", sm_map, "L2 hit latency by slice, over all SMs"},
    {"placement.l2_slices_cycles", sm_map,
     "L2 hit latency by SM, over as many lines of every slice"},
    {"cache.l2.slice_fit_r2", of_one_die,
     "share of the variance of L2 hits by SM and slice that a sum of both explains",
     "Alpay and Basaran, arXiv 2606.22588"},
    {"cache.l2.slice_ways", count, "associativity of the sets of a slice, in one partition"},
    {"cache.l2.slice_sets", count, "sets of a slice, in one partition"},
    {"cache.l2.slice_bytes", size, "lines of a slice that stay together, in one partition"},
    {"cache.l2.slice_total_bytes", size, "all slices of all partitions: what the L2 holds"},
    {"cache.l2.slice_replacement", text, "replacement policy of a set of a slice"},
    {"cache.l2.slowest_slice", of_one_die, "slice that stands out"},
};

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
    {"dsm.joint_bytes_per_cycle", sm_rates,
     "of each block while all of them read their neighbours, with each of cluster_blocks", luo_dsm},
    {"dsm.joint_bytes_per_s", throughput, "of all blocks together, best size of clusters", luo_dsm},
};

inline constexpr std::string_view nvml = "NVML";
inline constexpr std::string_view xid_page = "NVIDIA, XID Errors";
inline constexpr std::string_view host_page = "docs/methods/host.md";
inline constexpr std::string_view shared_host =
    "ranks measure at the same time, and share the memory of the host and its switches";
/// Differences between processes on one healthy GPU: copies in both directions up to 14 %, in one
/// direction up to 9 % (docs/results/h100.md, 2026-11-25, d6f0fbfb).
inline constexpr Quantity host_copies{"byte/s", continuous, higher, 0.20, 0.50};

inline constexpr Row host_rows[] = {
    {"host.to_device_bytes_per_s", host_copies, "copies from pinned host memory, largest size"},
    {"host.from_device_bytes_per_s", host_copies, "copies to pinned host memory, largest size"},
    {"host.both_bytes_per_s", host_copies, "both at once, together, largest size"},
    {"host.copy_bytes", footprints, "sizes of the copies of the next rows"},
    {"host.to_device_by_size_bytes_per_s", rate_curve, "copies to the GPU, by copy_bytes"},
    {"host.from_device_by_size_bytes_per_s", rate_curve, "copies from the GPU, by copy_bytes"},
    {"host.both_by_size_bytes_per_s", rate_curve, "both at once, together, by copy_bytes each way"},
    {"host.latency_ns", delay, "dependent load of the GPU from pinned host memory", host_page,
     shared_host},
    {"host.link_generation", units, "PCIe generation while copies run", nvml},
    {"host.link_width", units, "PCIe lanes while copies run", nvml},
    {"host.most_link_generation", units, "most that both GPU and slot support", nvml},
    {"host.most_link_width", units, "most that both GPU and slot support", nvml},
    {"host.link_bytes_per_s", Quantity{"byte/s", inventory, higher},
     "rate of that generation and width in one direction, without the line code",
     "PCI Express Base Specification"},
    {"host.pcie_replays", alarm, "PCIe packets sent again since the driver was loaded", nvml},
    {"host.new_pcie_replays", alarm, "of these, since the job device ran", nvml},
    {"host.nvlinks", units, "active NVLinks", nvml},
    {"host.nvlink_active", list, "1: active, NVLink by NVLink", nvml},
    {"host.nvlink_crc_errors", alarm, "CRC errors since the driver was loaded, by NVLink", nvml},
    {"host.nvlink_replays", alarm, "replays, likewise", nvml},
    {"host.nvlink_recoveries", alarm, "recoveries, likewise", nvml},
    {"host.new_nvlink_errors", alarm, "errors of all NVLinks together, since the job device ran",
     nvml},
    {"host.new_nvlink_errors_by_link", alarm, "the same by NVLink", nvml},
    {"host.xids", alarm, "codes of the Xid errors of this GPU in the kernel's log, in its order",
     xid_page},
    {"host.new_xids", alarm, "of these, since the job device ran", xid_page},
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
    {"peer.slowest", of_one_die, "rank of the GPU whose link is slower than those to all others"},
};

inline constexpr Row soak_rows[] = {
    {"soak.read_bytes_per_s", throughput, "reads of global memory, median over the rounds"},
    {"soak.clock_hz", clock_rate, "SM clock while all SMs compute, median over the rounds"},
    {"soak.read_last_over_first", gain,
     "reads in the last round / in the first, by the line through all"},
    {"soak.clock_last_over_first", gain, "the same of the SM clock"},
    {"soak.highest_temperature_c", Quantity{"degC", inventory, lower}, "GPU temperature"},
    {"soak.throttle_reasons", alarm, "bit mask of reasons for lowered clocks, in any round",
     "NVML clocks event reasons"},
    {"soak.time_s", Quantity{"s", fingerprint, neither},
     "end of each round: for how long the GPU had been at work"},
    {"soak.read_by_round_bytes_per_s", rate_curve, "reads in each round"},
    {"soak.clock_by_round_hz", Quantity{"Hz", fingerprint, neither}, "SM clock in each round"},
    {"soak.temperature_by_round_c", Quantity{"degC", fingerprint, neither},
     "GPU temperature at the end of each round"},
};

}  // namespace sonde::registry
