// The largest numbers of a model, mostly ten times those of the largest known GPU (in brackets) or
// more. A larger number is a mistake, and would take too much memory or time. Known GPUs are the
// shipped models and, by what vendors say, the GPUs of 2025: B300, MI300X.
#pragma once

#include <cstdint>

namespace sonde::sim::limits {

// Parts of the chip [18 GPCs x TPCs of a B200 chip; 304 compute units of the MI300X].
inline constexpr double groups = 256;     // GPCs, TPCs of a GPC, SMs of a TPC
inline constexpr double sms = 4096;       // SMs or TPCs of the chip
inline constexpr double partitions = 2;   // of the L2 [2]
inline constexpr double slices = 4096;    // in a partition [32]
inline constexpr double channels = 4096;  // [128]
inline constexpr int depth = 16;          // nesting of objects and lists [6]
inline constexpr double objects = 128;    // items of a list: caches, carve-outs, runs of sets [10]
inline constexpr double threads = 16384;  // of an SM or a block [2048]
inline constexpr double registers = 1 << 24;  // of an SM [131,072: a compute unit of the MI300X]
inline constexpr double blocks = 1024;        // of an SM or a cluster [32]
inline constexpr double banks = 1024;         // [32]
inline constexpr double units = 64;           // of a kind, or schedulers, in an SM [6]
inline constexpr double entries = 65536;      // of a queue, or waiting for one [512]
inline constexpr double partition_entries = 1024;  // MSHRs or requests of a part of the L2 [32]
inline constexpr double ways = 65536;              // [192]
inline constexpr double sets = 1 << 20;            // [16,384]
inline constexpr double weight = 1e9;              // of a way among those of its set [5]
inline constexpr double texts = 4096;              // characters [460]
inline constexpr double instructions = 1024;       // that pipelines know [67]
inline constexpr double rows = 4096;               // of a texture's tile [4]

inline constexpr double cycles = 1e6;           // [2752: a window switch of the GTX 780]
inline constexpr double nanoseconds = 1e9;      // [3000: a launch]
inline constexpr double watchdog_s = 3600;      // [2: what most drivers allow]
inline constexpr double hertz = 1e12;           // [10e9: a pin of HBM3E]
inline constexpr double bytes_per_cycle = 1e6;  // [5200: the L2 of the H200]
inline constexpr double version = 1000;         // [12]
inline constexpr double bus_bits = 1 << 20;     // [8192]
inline constexpr double data_rate = 64;         // transfers in a clock [4]

inline constexpr double bytes_per_s = 1e15;  // of a link to the host or a peer [900e9: the GH200]
inline constexpr double lanes = 1024;        // of such a link [16]
inline constexpr double generations = 32;    // of PCIe [6]

inline constexpr double memory_bytes = 1ULL << 43;  // [288 GB] constants begin at 2^48
inline constexpr double entry_bytes = 1ULL << 34;   // of a TLB, and a page [32 MiB; 1 GiB on hosts]
inline constexpr double on_chip_bytes = 1ULL << 32;  // [256 MB: the last level of the MI300X]
inline constexpr double line_bytes = 65536;          // [256]

// The smallest page [4 KiB: the GTX 280]; the page tables hold a bit for each page.
inline constexpr std::uint64_t least_page_bytes = 512;

// Sectors of a line [4]: a word holds the line number and a bit for each sector.
inline constexpr int line_sectors = 16;

// Memory of the host for all arrays of a simulated GPU [the H200 takes 73 MiB].
inline constexpr std::uint64_t host_bytes = 512ULL << 20;
// Size of a model file [12 KB].
inline constexpr std::uint64_t file_bytes = 1ULL << 20;

}  // namespace sonde::sim::limits
