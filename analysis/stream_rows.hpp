// Rows of the metric registry: bandwidth of global memory and of the L2.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Quantity bandwidth_curve{"byte/s", fingerprint, neither};
inline constexpr Quantity operations_per_s{"1/s", continuous, higher};
inline constexpr Quantity delay{"ns", continuous, lower};

/// Of the job global.throughput.
inline constexpr Row global_rows[] = {
    {"global.theoretical_bytes_per_s", Quantity{"byte/s", structural, higher},
     "memory clock x transfers per clock x bus width"},
    {"global.read_bytes_per_s", throughput, "reading global memory, best shape"},
    {"global.write_bytes_per_s", throughput, "writing global memory, best shape"},
    {"global.copy_bytes_per_s", throughput, "copying, read and written bytes, best shape"},
    {"global.efficiency", gain, "best read / theoretical", "Mei and Chu 2016, table VI"},
    {"global.best_shape", Quantity{"", fingerprint, neither},
     "CTA size x CTA count x ILP of the best read", mei_fig_12},
    {"global.littles_law_bytes_in_flight", amount, "bytes in flight that the best read needs",
     littles_law},
    {"global.littles_law_latency_ns", Quantity{"ns", continuous, lower},
     "latency that the rise of throughput with bytes in flight implies", littles_law},
    {"global.littles_law_r2", number,
     "how well throughput below half of the best follows that line", global_page,
     "it tells how good a fit is, not what a device is"},
};

inline constexpr Factor surface_kinds[] = {{"", "read"}, {"write_", "write"}, {"copy_", "copy"}};
inline constexpr Row surface_rows[] = {
    {"global.{}surface_block_threads", list, "axis of the {} surface: CTA size"},
    {"global.{}surface_blocks", list, "axis of the {} surface: CTA count"},
    {"global.{}surface_ilp", list, "axis of the {} surface: ILP"},
    {"global.{}surface_bytes_per_s", bandwidth_curve, "{} throughput at each shape"},
};

inline constexpr Row element_axis_rows[] = {
    {"global.element_bytes", footprints, "widths of loads and stores of the series below"},
};
inline constexpr Factor stream_kinds[] = {{"read", "read"}, {"write", "write"}, {"copy", "copy"}};
inline constexpr Row element_rows[] = {
    {"global.{}_by_element_bytes_per_s", bandwidth_curve,
     "{} throughput with each of element_bytes, shape of the best with 16 bytes; 0: refused"},
};

inline constexpr Factor stream_ways[] = {
    {"read_no_allocate", "reading with loads that leave no line in the L1, shape of the best read"},
    {"read_evict_first", "reading with loads whose lines caches drop first"},
    {"write_evict_first",
     "writing with stores whose lines caches drop first, shape of the best write"},
    {"write_write_through", "writing with stores that go through the L2"},
    {"copy_no_allocate", "copying with such loads (no_allocate), shape of the best copy"},
    {"copy_evict_first", "copying with such loads and stores (evict_first)"},
    {"copy_write_through", "copying with such stores (write_through)"},
    {"bulk_read", "reading into shared memory by the engine for bulk copies, best shape"},
    {"bulk_copy", "copying by that engine, read and written bytes, best shape"},
};
inline constexpr Row way_rows[] = {
    {"global.{}_bytes_per_s", throughput, "{}"},
};

inline constexpr Row tile_latency_rows[] = {
    {"global.light_latency_ns", delay,
     "from the issue of a load to its arrival, one warp with one load under way on each SM"},
    {"global.loaded_latency_ns", delay,
     "the same while all threads of each SM have a load under way"},
    {"global.loaded_bytes_in_flight", amount,
     "loaded_latency_ns x the throughput that it was measured at", littles_law},
};

/// Another process gets other memory: on one H200 the median of 24 replicates moved by 3.8 % over
/// ten runs (docs/results/h200.md, 2026-11-28).
inline constexpr Quantity by_placed_memory{"byte/s", continuous, higher, 0.05, 0.08};

/// Of the job l2.throughput.
inline constexpr Row l2_throughput_rows[] = {
    {"l2.footprint_bytes", footprints, "lines that were read and written, all of them in the L2"},
    {"l2.read_bytes_per_s", throughput, "reading what lies in the L2, each SM other lines"},
    {"l2.write_bytes_per_s", throughput, "writing what lies in the L2"},
    {"l2.same_lines_bytes_per_s", throughput,
     "what all SMs together get when they read the same lines at the same time", "",
     "it tells that reads are merged, and varies by 2.5 % on one GPU"},
    {"l2.near_bytes_per_s", by_placed_memory,
     "reading lines whose home is the partition near the SM that reads"},
    {"l2.far_bytes_per_s", by_placed_memory,
     "reading lines whose home is the other one, or the copies that the near one keeps of them"},
    {"l2.both_bytes_per_s", throughput, "each SM reads the lines of both"},
    {"l2.near_write_bytes_per_s", throughput,
     "writing lines whose home is the partition near the SM that writes"},
    {"l2.far_write_bytes_per_s", throughput, "writing lines whose home is the other one"},
    {"l2.near_atomics_per_s", operations_per_s,
     "additions of single threads to words of lines whose home is the partition near the SM"},
    {"l2.far_atomics_per_s", operations_per_s, "the same to lines whose home is the other one"},
    {"l2.atomics_per_s", operations_per_s,
     "additions of single threads to words of their own, the best shape of reductions"},
    {"l2.same_line_atomics_per_s", operations_per_s,
     "the same by a warp of each SM to the 32 words of one line"},
};

}  // namespace sonde::registry
