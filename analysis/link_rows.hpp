// Rows of the registry of jobs that measure links: between the SMs of a cluster.
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
    {"dsm.sm_cycles", sm_map, "by the SM that reads, mean over SMs of other TPCs"},
    {"dsm.cluster_blocks", list, "sizes of clusters that the next rows were measured with"},
    {"dsm.by_cluster_cycles", curve, "latency from other blocks with each of cluster_blocks"},
    {"dsm.bytes_per_cycle", sm_throughput, "one block alone reads the memory of another", luo_dsm},
    {"dsm.own_bytes_per_cycle", sm_throughput, "the same of its own memory, by the same kernel"},
    {"dsm.same_tpc_bytes_per_cycle", sm_throughput, "of the other SM of the TPC"},
    {"dsm.same_gpc_bytes_per_cycle", sm_throughput, "of an SM of another TPC of the GPC"},
    {"dsm.joint_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, higher},
     "of each block while all of them read their neighbours, with each of cluster_blocks", luo_dsm},
    {"dsm.joint_bytes_per_s", throughput, "of all blocks together, best size of clusters", luo_dsm},
};

}  // namespace sonde::registry
