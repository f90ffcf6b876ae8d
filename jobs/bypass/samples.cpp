// A tree of bodies, and two samples of the CUDA SDK that keep in the cache what they kept in shared
// memory.
#include "jobs/bypass/programs.hpp"

#include <utility>
#include <vector>

namespace sonde {

/// The force on each body: a warp goes down the tree of cells together. In each pass it looks at a
/// cell of each of five levels of the octree, the upper ones being few and often seen; a cell's
/// children are eight numbers, whose position and mass are read next.
PaperProgram barnes_hut() {
  constexpr std::uint32_t threads = 256;
  constexpr std::uint32_t blocks = 90;  // six for each of 15 SMs, as the original asks
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
  const auto position = [](std::uint32_t axis) {
    return ProgramAccess{.waits = axis == 0,
                         .array = 1,
                         .first = axis * (cells + bodies),
                         .drawn_elements = cells + bodies,
                         .drawn_threads = 32,
                         .draw = 5};
  };
  ProgramKernel kernel{.grid_x = blocks, .block_x = threads};
  kernel.inner = {.first = 512};
  kernel.body = {child(0, 0, 8), child(1, 8, 64), child(2, 72, 512), child(3, 584, 4096),
                 child(4, 4680, cells - 4680)};
  for (std::uint32_t axis : {0u, 1u, 2u, 3u}) kernel.body.push_back(position(axis));
  kernel.instructions = 40;
  return {
      .program = {.name = "bh",
                  .array_elements = {std::uint64_t{cells} * 8, std::uint64_t{cells + bodies} * 4},
                  .kernels = {kernel},
                  .seed = 3},
      .resident_blocks = 6,
      .level = BypassLevel::block,
      .high_contention = true};
}

/// histogram64: each thread counts in 64 bytes of its own, which in the original lie in shared
/// memory. Of the four bytes of a word of data one is counted: a counter is read, then written.
PaperProgram histogram() {
  constexpr std::uint32_t threads = 64;
  constexpr std::uint32_t blocks = 240;
  constexpr std::uint32_t passes = 1024;
  constexpr std::uint32_t bins = 64;
  const auto count = [](bool store) {
    // A thread's counters are bytes; four threads share an element.
    return ProgramAccess{.store = store,
                         .waits = true,
                         .array = 1,
                         .per_block_x = threads / 4 * bins,
                         .per_thread_x = bins / 4,
                         .drawn_elements = bins / 4};
  };
  ProgramKernel kernel{.grid_x = blocks, .block_x = threads};
  kernel.inner = {.first = static_cast<std::int32_t>(passes)};
  kernel.body = {
      {.array = 0, .per_block_x = threads, .per_thread_x = 1, .per_inner = blocks * threads},
      count(false),
      count(true)};
  kernel.instructions = 12;
  return {.program = {.name = "hst",
                      .array_elements = {std::uint64_t{blocks} * threads * passes,
                                         std::uint64_t{blocks + 1} * threads * bins / 4},
                      .kernels = {kernel},
                      .seed = 4},
          .resident_blocks = 8,
          .level = BypassLevel::block,
          .high_contention = true};
}

/// Products of 256 pairs of vectors: a block sums one pair up in 1024 accumulators.
PaperProgram scalar_product() {
  constexpr std::uint32_t threads = 256;
  constexpr std::uint32_t pairs = 256;
  constexpr std::uint32_t elements = 4096;
  constexpr std::uint32_t accumulators = 1024;
  const auto of_vector = [](std::uint32_t vector) {
    return ProgramAccess{.array = vector,
                         .per_block_x = elements,
                         .per_thread_x = 1,
                         .per_outer = threads,
                         .per_inner = accumulators};
  };
  ProgramKernel kernel{.grid_x = pairs, .block_x = threads};
  kernel.outer = {.first = static_cast<std::int32_t>(accumulators / threads)};
  kernel.inner = {.first = static_cast<std::int32_t>(elements / accumulators)};
  kernel.body = {of_vector(0),
                 of_vector(1),
                 {.store = true,
                  .pass = AccessPass::last,
                  .array = 2,
                  .per_block_x = accumulators,
                  .per_thread_x = 1,
                  .per_outer = threads}};
  kernel.instructions = 6;
  return {.program = {.name = "scp",
                      .array_elements = {std::uint64_t{pairs} * elements,
                                         std::uint64_t{pairs} * elements,
                                         std::uint64_t{pairs} * accumulators},
                      .kernels = {kernel}},
          .resident_blocks = 6,  // 1536 threads
          .level = BypassLevel::block};
}

}  // namespace sonde
