// What NVIDIA GPUs have from GT200 to Blackwell, generation by generation: the only place of these
// ranges. Used by plausible_gpu.cpp.
#pragma once

#include "base/units.hpp"
#include "support/random_plan.hpp"

namespace sonde::test {

struct Generation {
  std::string_view name;
  struct {
    int major = 0;
    int minor = 0;
  } compute;
  // The chip.
  Span gpcs;
  Span tpcs;
  std::uint64_t sms_per_tpc = 2;
  // First caches. With carve-outs l1_kib is what the L1 and shared memory share, else the L1 alone.
  std::vector<std::uint64_t> l1_kib = {};  // empty: plain loads have none
  std::vector<std::uint64_t> carveouts_kib = {};
  std::vector<std::uint64_t> texture_kib = {};  // empty: textures lie in the L1
  std::uint64_t line_bytes = 128;
  std::uint64_t sector_bytes = 32;
  bool has_readonly = true;  // loads of constant data pass the texture cache, or the L1
  // The L2.
  Span l2_kib = {};  // of all partitions; most 0: none
  std::uint64_t l2_line_bytes = 128;
  double chance_of_halves = 0;
  std::vector<std::uint64_t> slices = {1};  // of each partition; 1: none that differ
  std::vector<std::string> l2_policies = {"lru", "lru", "tree_plru"};
  // Translation, in pages of 2 MiB; 65 entries are seven sets, one of 17 and six of 8.
  std::vector<std::uint64_t> pages_per_entry = {1};
  Span second_tlb_entries;
  bool has_window = false;
  // Constants and code, inner levels first.
  std::vector<Span> constant_bytes = {{2_KiB, 2_KiB}, {16_KiB, 48_KiB}};
  std::vector<Span> code_bytes = {{12_KiB, 24_KiB}, {64_KiB, 128_KiB}};
  CycleSpans cycles;
  Span texture_cycles{20, 60};
  std::uint64_t most_cluster_blocks = 0;
};

const std::vector<Generation>& generations();

}  // namespace sonde::test
