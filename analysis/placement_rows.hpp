// Rows of the metric registry: what each SM sees, and the slices of the L2.
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
    {"placement.read_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, higher},
     "what each SM reads past the L1 while its whole TPC reads"},
    {"placement.read_dram_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, higher},
     "what each SM reads from memory while its whole TPC reads"},
    {"placement.read_l1_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, higher},
     "what each SM reads from its L1"},
    {"placement.copy_shared_bytes_per_cycle", Quantity{"byte/cycle", fingerprint, higher},
     "what each SM reads and writes in copies inside its shared memory"},
    {"placement.slowest_sm", Quantity{"1", inventory, neither},
     "SM that is slower than its peers, beyond their scatter"},
    {"placement.slowest_tpc", Quantity{"1", inventory, neither}, "the same of TPCs"},
    {"placement.slowest_gpc", Quantity{"1", inventory, neither}, "the same of GPCs"},
    {"placement.l2_near_cycles", latency, "L2 hits, the faster of two groups of lines",
     "Jin et al., MICRO 2024"},
    {"placement.l2_far_cycles", latency, "L2 hits, the slower of two groups of lines",
     "Jin et al., MICRO 2024"},
    {"placement.dram_near_cycles", latency, "cold lines, the faster of two groups",
     "Luo et al., arXiv 2501.12084"},
    {"placement.dram_far_cycles", latency, "cold lines, the slower of two groups",
     "Luo et al., arXiv 2501.12084"},
};

inline constexpr Quantity slice_map{"cycle", fingerprint, lower};

inline constexpr Row slice_rows[] = {
    {"cache.l2.slices", count,
     "slices that the lines of a page lie in; of a divided L2, in each partition"},
    {"cache.l2.side_slices", list,
     "slices on the side of the chip that is near to SM 0, and on the other"},
    {"cache.l2.far_side_cycles", cycles, "what hits take longer on the side that is not the SM's"},
    {"placement.side_of_sm", list,
     "side of the chip on which each SM has its near slices; that of SM 0 is 0"},
    {"cache.l2.slice_function", text, "from the address within a large page to the slice"},
    {"cache.l2.slice_wait_cycles", Quantity{"cycle", inventory, neither},
     "what a load waits for reductions of other SMs on another line of its slice"},
    {"cache.l2.slice_latency_cycles", slice_map, "L2 hit latency by slice, over all SMs"},
    {"placement.l2_slices_cycles", sm_map,
     "L2 hit latency by SM, over as many lines of every slice"},
    {"cache.l2.slice_fit_r2", Quantity{"1", inventory, neither},
     "share of the variance of L2 hits by SM and slice that a sum of both explains",
     "Alpay and Basaran, arXiv 2606.22588"},
    {"cache.l2.slice_ways", count, "associativity of the sets of a slice, in one partition"},
    {"cache.l2.slice_sets", count, "sets of a slice, in one partition"},
    {"cache.l2.slice_bytes", size, "lines of a slice that stay together, in one partition"},
    {"cache.l2.slice_replacement", text, "replacement policy of a set of a slice"},
    {"cache.l2.slowest_slice", Quantity{"1", inventory, neither}, "slice that stands out"},
};

}  // namespace sonde::registry
