// Barnes-Hut, and samples of the CUDA SDK changed to use the cache instead of shared memory.
#include "jobs/bypass/accesses.hpp"
#include "jobs/bypass/programs.hpp"

namespace sonde {

/// The force on each body: the threads of a warp descend the tree of cells together. Each pass
/// reads a cell on each of five levels of the octree; the upper levels have few cells, which are
/// read often. Each cell has eight child numbers; then position and mass of the child are read.
PaperProgram barnes_hut() {
  constexpr std::uint32_t blocks = 90;  // six for each of 15 SMs, as in the original
  constexpr std::uint32_t bodies = 1u << 17;
  constexpr std::uint32_t cells = 1u << 15;
  const auto child = [](std::uint32_t level, std::uint32_t first, std::uint32_t range) {
    return ProgramAccess{.array = 0,
                         .first = first * 8,
                         .drawn_elements = range,
                         .drawn_step = 8,
                         .drawn_threads = 32,
                         .draw = level};
  };
  std::vector<ProgramAccess> body{child(0, 0, 8), child(1, 8, 64), child(2, 72, 512),
                                  child(3, 584, 4096), child(4, 4680, cells - 4680)};
  for (std::uint32_t axis : {0u, 1u, 2u, 3u}) {
    body.push_back({.waits = axis == 0,
                    .array = 1,
                    .first = axis * (cells + bodies),
                    .drawn_elements = cells + bodies,
                    .drawn_threads = 32,
                    .draw = 5});
  }
  return contended_by_blocks(
      {.name = "bh",
       .array_elements = {std::uint64_t{cells} * 8, std::uint64_t{cells + bodies} * 4},
       .kernels = {line_kernel(blocks, 256, 512, std::move(body), 40)},
       .seed = 3},
      six_blocks);
}

/// histogram64: each thread counts in 64 bytes of its own (in shared memory in the original). One
/// of the four bytes of a data word is counted: a counter is read, then written.
PaperProgram histogram() {
  constexpr std::uint32_t threads = 64;
  constexpr std::uint32_t blocks = 240;
  constexpr std::uint32_t passes = 1024;
  constexpr std::uint32_t row = 64 / 4;  // an element has four counters of a byte
  ProgramAccess counter = drawn(1, row);
  counter.per_block_x = threads / 4 * 64;
  counter.per_thread_x = row;
  return contended_by_blocks(
      {.name = "hst",
       .array_elements = {std::uint64_t{blocks} * threads * passes,
                          std::uint64_t{blocks + 1} * threads * row},
       .kernels = {line_kernel(blocks, threads, passes,
                               {by_thread(0, threads, blocks * threads), counter, stored(counter)},
                               12)},
       .seed = 4},
      8);
}

/// Dot products of 256 pairs of vectors; a block sums a pair in 1024 accumulators.
PaperProgram scalar_product() {
  constexpr std::uint32_t threads = 256;
  constexpr std::uint32_t pairs = 256;
  constexpr std::uint32_t elements = 4096;
  constexpr std::uint32_t accumulators = 1024;
  const auto of_vector = [](std::uint32_t vector) {
    ProgramAccess access = by_thread(vector, elements, accumulators);
    access.per_outer = threads;
    return access;
  };
  ProgramAccess sum = in_pass(AccessPass::last, stored(by_thread(2, accumulators)));
  sum.per_outer = threads;
  ProgramKernel kernel =
      line_kernel(pairs, threads, elements / accumulators, {of_vector(0), of_vector(1), sum}, 6);
  kernel.outer.first = static_cast<std::int32_t>(accumulators / threads);
  constexpr std::uint64_t all = std::uint64_t{pairs} * elements;
  return by_blocks({.name = "scp",
                    .array_elements = {all, all, std::uint64_t{pairs} * accumulators},
                    .kernels = {kernel}},
                   six_blocks);
}

}  // namespace sonde
