// The programs of Rodinia.
#include "jobs/bypass/programs.hpp"

#include <utility>
#include <vector>

namespace sonde {

/// find_index_kernel: thread i searches the sums of weights from the first on until one exceeds its
/// own number, which grow with i, so that a warp's search ends where its threads' numbers lie. Then
/// the two loops of likelihood_kernel, each as a kernel: a particle writes down which points of the
/// image its position means, and reads them there. Particles lie near the object, so that they read
/// the same 32 x 16 pixels, of each of which the image has 10 frames.
PaperProgram particle_filter() {
  constexpr std::uint32_t threads = 512;
  constexpr std::uint32_t blocks = 64;
  constexpr std::uint32_t particles = threads * blocks;
  constexpr std::uint32_t neighbours = 49;  // a disc of radius 5 has about so many points
  constexpr std::uint32_t frames = 10;
  constexpr std::uint32_t image = 128 * 128 * frames;
  constexpr std::uint32_t near_pixels = 32 * 16;
  ProgramKernel search{.grid_x = blocks, .block_x = threads};
  // On average half of what lies between the neighbouring warps is behind the first thread's.
  search.inner = {.first = 32, .per_block = static_cast<std::int32_t>(threads), .per_warp = 32};
  search.body = {
      {.array = 0, .per_inner = 1},                                                        // CDF[x]
      {.pass = AccessPass::first, .array = 1, .per_block_x = threads, .per_thread_x = 1},  // u[i]
      {.pass = AccessPass::last,
       .array = 2,
       .drawn_elements = particles,
       .drawn_threads = 1},  // arrayX[i_bar]
      {.store = true,
       .pass = AccessPass::last,
       .array = 3,
       .per_block_x = threads,
       .per_thread_x = 1}};  // xj[i]
  search.instructions = 5;
  const ProgramAccess index{.array = 6,
                            .per_block_x = threads * neighbours,
                            .per_thread_x = neighbours,
                            .per_inner = 1};  // ind[i * countOnes + y]
  ProgramAccess stored_index = index;
  stored_index.store = true;
  ProgramKernel place{.grid_x = blocks, .block_x = threads};
  place.inner = {.first = static_cast<std::int32_t>(neighbours)};
  place.body = {{.array = 4, .first = 1, .per_inner = 2},  // objxy[y * 2 + 1]
                {.array = 4, .per_inner = 2},              // objxy[y * 2]
                stored_index};
  place.instructions = 12;
  ProgramKernel likelihood{.grid_x = blocks, .block_x = threads};
  likelihood.inner = place.inner;
  likelihood.body = {index,
                     {.waits = true,
                      .array = 5,
                      .drawn_elements = near_pixels,
                      .drawn_step = frames}};  // I[ind[...]]
  likelihood.instructions = 12;
  // One block on an SM: the paper has 16 warps that it could bypass.
  return {.program = {.name = "ptf",
                      .array_elements = {particles + threads, particles, particles, particles,
                                         2 * neighbours, image, particles * neighbours},
                      .kernels = {search, place, likelihood},
                      .seed = 1},
          .high_contention = true};
}

/// kernel_compute_cost: the distance of each point to a candidate centre, which lies in shared
/// memory; then the point's own record of 32 bytes and the tables of its present centre.
PaperProgram stream_cluster() {
  constexpr std::uint32_t threads = 512;
  constexpr std::uint32_t points = 65536;
  constexpr std::uint32_t dimensions = 32;
  constexpr std::uint32_t record = 8;  // elements: weight, pointer, assignment, cost
  constexpr std::uint32_t centres = 1024;
  const auto of_record = [](std::uint32_t field) {
    return ProgramAccess{.pass = AccessPass::last,
                         .array = 1,
                         .first = field,
                         .per_block_x = threads * record,
                         .per_thread_x = record};
  };
  ProgramKernel kernel{.grid_x = points / threads, .block_x = threads};
  kernel.inner = {.first = static_cast<std::int32_t>(dimensions)};
  kernel.body = {{.array = 0, .per_block_x = threads, .per_thread_x = 1, .per_inner = points},
                 of_record(0),
                 of_record(6),
                 of_record(4),
                 {.waits = true,
                  .pass = AccessPass::last,
                  .array = 2,
                  .drawn_elements = centres},  // center_table[p[i].assign]
                 {.waits = true,
                  .pass = AccessPass::last,
                  .array = 3,
                  .per_block_x = threads * (centres / 64),
                  .per_thread_x = centres / 64,
                  .drawn_elements = centres / 64},  // lower[...] of the thread's row
                 {.store = true,
                  .pass = AccessPass::last,
                  .array = 3,
                  .per_block_x = threads * (centres / 64),
                  .per_thread_x = centres / 64,
                  .drawn_elements = centres / 64}};
  kernel.instructions = 6;
  return {.program = {.name = "sc",
                      .array_elements = {std::uint64_t{points} * dimensions,
                                         std::uint64_t{points} * record, centres,
                                         std::uint64_t{points} * (centres / 64)},
                      .kernels = {kernel},
                      .seed = 2},
          .resident_blocks = 3,  // 1536 threads
          .level = BypassLevel::block,
          .high_contention = true};
}

/// invert_mapping: from a row for each point to a row for each feature. The distances (kmeansPoint)
/// read textures and constants, so they are none of the L1's.
PaperProgram kmeans() {
  constexpr std::uint32_t threads = 256;
  constexpr std::uint32_t points = 65536;
  constexpr std::uint32_t features = 34;
  ProgramKernel kernel{.grid_x = points / threads, .block_x = threads};
  kernel.inner = {.first = static_cast<std::int32_t>(features)};
  kernel.body = {
      {.array = 0, .per_block_x = threads * features, .per_thread_x = features, .per_inner = 1},
      {.store = true, .array = 1, .per_block_x = threads, .per_thread_x = 1, .per_inner = points}};
  kernel.instructions = 5;
  // One block on an SM: the paper bypasses M of its 8 warps (figure 3).
  return {.program = {.name = "kms",
                      .array_elements = {std::uint64_t{points} * features,
                                         std::uint64_t{points} * features},
                      .kernels = {kernel}},
          .high_contention = true};
}

/// lud_internal: a tile of the matrix minus the product of a column of tiles and a row of tiles,
/// which lie in shared memory; each thread reads one element of each and its own.
PaperProgram lu_decomposition() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t tile = 16;
  const auto at_tile = [](std::uint32_t per_x, std::uint32_t per_y) {
    return ProgramAccess{.array = 0,
                         .per_block_x = per_x,
                         .per_block_y = per_y,
                         .per_thread_x = 1,
                         .per_thread_y = size};
  };
  ProgramKernel kernel{
      .grid_x = size / tile, .grid_y = size / tile, .block_x = tile, .block_y = tile};
  kernel.body = {at_tile(tile, 0), at_tile(0, tile * size), at_tile(tile, tile * size)};
  ProgramAccess result_of_tile = at_tile(tile, tile * size);
  result_of_tile.store = true;
  kernel.body.push_back(result_of_tile);
  kernel.instructions =
      16 * 3 + 12;  // the product: two loads of shared memory and one multiply-add
  return {.program = {.name = "lud",
                      .array_elements = {std::uint64_t{size} * size},
                      .kernels = {kernel}},
          .resident_blocks = 6,  // 1536 threads
          .level = BypassLevel::block};
}

/// srad_cuda_2: the image, four derivatives and the diffusion coefficient at a point; and of the
/// coefficients the row below the block and the column to its right, read by all its threads.
PaperProgram srad2() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t width = size + 32;
  constexpr std::uint32_t tile = 16;
  constexpr std::uint64_t plane = std::uint64_t{width} * (size + 1);
  const auto at = [](std::uint32_t array, std::uint32_t first) {
    return ProgramAccess{.array = array,
                         .first = first,
                         .per_block_x = tile,
                         .per_block_y = tile * width,
                         .per_thread_x = 1,
                         .per_thread_y = width};
  };
  ProgramKernel kernel{
      .grid_x = size / tile, .grid_y = size / tile, .block_x = tile, .block_y = tile};
  ProgramAccess below = at(0, tile * width);
  below.per_thread_y = 0;
  ProgramAccess right = at(0, tile);
  right.per_thread_x = 0;
  kernel.body = {at(1, 0), below, right, at(0, 0), at(2, 0), at(3, 0), at(4, 0), at(5, 0)};
  ProgramAccess image = at(1, 0);
  image.store = true;
  kernel.body.push_back(image);
  kernel.instructions = 24;
  return {.program = {.name = "sr2",
                      .array_elements = {plane, plane, plane, plane, plane, plane},
                      .kernels = {kernel}},
          .resident_blocks = 6,  // 1536 threads
          .level = BypassLevel::block};
}

}  // namespace sonde
