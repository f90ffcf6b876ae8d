// The programs of Rodinia.
#include "jobs/bypass/accesses.hpp"
#include "jobs/bypass/programs.hpp"

namespace sonde {

using enum AccessPass;

/// find_index_kernel: thread i searches the sums of weights from the start until one exceeds its
/// own number, which grows with i; so the threads of a warp end close together. Then the loops of
/// likelihood_kernel, each as a kernel: a particle stores the image points of its position, then
/// reads them. Particles lie near the object: all read the same 32 x 16 pixels of 10 frames each.
PaperProgram particle_filter() {
  constexpr std::uint32_t threads = 512;
  constexpr std::uint32_t blocks = 64;
  constexpr std::uint32_t particles = threads * blocks;
  constexpr std::uint32_t neighbours = 49;  // number of points of a disc of radius 5, about
  constexpr std::uint32_t frames = 10;
  constexpr std::uint32_t image = 128 * 128 * frames;
  constexpr std::uint32_t near_pixels = 32 * 16;
  ProgramAccess found = drawn(2, particles);  // arrayX[i_bar]
  found.waits = false;
  ProgramKernel search = line_kernel(blocks, threads, 32,
                                     {{.array = 0, .per_inner = 1},           // CDF[x]
                                      in_pass(first, by_thread(1, threads)),  // u[i]
                                      in_pass(last, found),
                                      stored(in_pass(last, by_thread(3, threads)))},  // xj[i]
                                     5);
  // On average half of the distance between neighbouring warps lies behind the first thread.
  search.inner = {.first = 32, .per_block = static_cast<std::int32_t>(threads), .per_warp = 32};
  const ProgramAccess index = by_row(6, threads, neighbours);  // ind[i * countOnes + y]
  const ProgramKernel place =
      line_kernel(blocks, threads, neighbours,
                  {{.array = 4, .first = 1, .per_inner = 2},  // objxy[y * 2 + 1]
                   {.array = 4, .per_inner = 2},              // objxy[y * 2]
                   stored(index)},
                  12);
  ProgramAccess pixel = drawn(5, near_pixels);  // I[ind[...]]
  pixel.drawn_step = frames;
  const ProgramKernel likelihood = line_kernel(blocks, threads, neighbours, {index, pixel}, 12);
  // One block per SM: the paper can bypass any of its 16 warps.
  return {.program = {.name = "ptf",
                      .array_elements = {particles + threads, particles, particles, particles,
                                         2 * neighbours, image, particles * neighbours},
                      .kernels = {search, place, likelihood},
                      .seed = 1},
          .high_contention = true};
}

/// kernel_compute_cost: the distance of each point to a candidate centre in shared memory; then the
/// point's record of 32 bytes and the tables of its present centre.
PaperProgram stream_cluster() {
  constexpr std::uint32_t threads = 512;
  constexpr std::uint32_t points = 65536;
  constexpr std::uint32_t dimensions = 32;
  constexpr std::uint32_t record = 8;  // elements: weight, pointer, assignment, cost
  constexpr std::uint32_t centres = 1024;
  constexpr std::uint32_t row = centres / 64;
  const auto of_record = [](std::uint32_t field) {
    ProgramAccess access = by_row(1, threads, record);
    access.first = field;
    access.per_inner = 0;
    return in_pass(last, access);
  };
  ProgramAccess lower = drawn(3, row);  // lower[...] in the row of the thread
  lower.per_block_x = threads * row;
  lower.per_thread_x = row;
  ProgramAccess stored_lower = stored(lower);
  stored_lower.waits = false;
  const ProgramKernel kernel =
      line_kernel(points / threads, threads, dimensions,
                  {by_thread(0, threads, points), of_record(0), of_record(6), of_record(4),
                   in_pass(last, drawn(2, centres)),  // center_table[p[i].assign]
                   in_pass(last, lower), in_pass(last, stored_lower)},
                  6);
  return contended_by_blocks(
      {.name = "sc",
       .array_elements = {std::uint64_t{points} * dimensions, std::uint64_t{points} * record,
                          centres, std::uint64_t{points} * row},
       .kernels = {kernel},
       .seed = 2},
      3);  // 1536 threads
}

/// invert_mapping: transposes rows of points into rows of features. The distances (kmeansPoint)
/// read textures and constants, not the L1.
PaperProgram kmeans() {
  constexpr std::uint32_t threads = 256;
  constexpr std::uint32_t points = 65536;
  constexpr std::uint32_t features = 34;
  constexpr std::uint64_t elements = std::uint64_t{points} * features;
  // One block per SM: the paper bypasses M of its 8 warps (figure 3).
  return {
      .program = {.name = "kms",
                  .array_elements = {elements, elements},
                  .kernels = {line_kernel(
                      points / threads, threads, features,
                      {by_row(0, threads, features), stored(by_thread(1, threads, points))}, 5)}},
      .high_contention = true};
}

/// lud_internal: a tile of the matrix minus the product of a column tile and a row tile in shared
/// memory. Each thread reads one element of each, and its own.
PaperProgram lu_decomposition() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t tile = 16;
  // The product takes two loads of shared memory and one multiply-add per element.
  constexpr std::uint32_t instructions = 16 * 3 + 12;
  const ProgramAccess own = by_point(0, size, tile, tile);
  ProgramAccess of_column = own;
  of_column.per_block_y = 0;
  ProgramAccess of_row = own;
  of_row.per_block_x = 0;
  return by_blocks({.name = "lud",
                    .array_elements = {std::uint64_t{size} * size},
                    .kernels = {plane_kernel(size, tile, tile,
                                             {of_column, of_row, own, stored(own)}, instructions)}},
                   six_blocks);
}

/// srad_cuda_2: the image, four derivatives and the diffusion coefficient at each point. All
/// threads also read the coefficients of the row below the block and of the column to its right.
PaperProgram srad2() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t width = size + 32;
  constexpr std::uint32_t tile = 16;
  constexpr std::uint64_t plane = std::uint64_t{width} * (size + 1);
  const auto at = [](std::uint32_t array, std::uint32_t first) {
    return by_point(array, width, tile, tile, first);
  };
  ProgramAccess below = at(0, tile * width);
  below.per_thread_y = 0;
  ProgramAccess right = at(0, tile);
  right.per_thread_x = 0;
  return by_blocks({.name = "sr2",
                    .array_elements = {plane, plane, plane, plane, plane, plane},
                    .kernels = {plane_kernel(size, tile, tile,
                                             {at(1, 0), below, right, at(0, 0), at(2, 0), at(3, 0),
                                              at(4, 0), at(5, 0), stored(at(1, 0))},
                                             24)}},
                   six_blocks);
}

}  // namespace sonde
