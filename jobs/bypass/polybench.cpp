// Polybench-GPU. With high cache contention: matrix times vector, with a row or a column for each
// thread, and a rank-2k update. With low contention: a covariance matrix and two stencils.
#include "jobs/bypass/accesses.hpp"
#include "jobs/bypass/programs.hpp"

namespace sonde {
namespace {

// As in the originals. Runs end long before a row does.
constexpr std::uint32_t rows = 4096;
constexpr std::uint32_t columns = 4096;
constexpr std::uint32_t block_threads = 256;
constexpr std::uint64_t elements_of_matrix = std::uint64_t{rows} * columns;

/// A kernel over `rows` threads.
/// @param instructions multiply-add, two address additions, and compare and branch of the loop
ProgramKernel over_rows(std::vector<ProgramAccess> body, std::uint32_t instructions = 6) {
  return line_kernel(rows / block_threads, block_threads, columns, std::move(body), instructions);
}

/// matrix[thread * columns + j]: each thread reads another line.
ProgramAccess own_row(std::uint32_t matrix) { return by_row(matrix, block_threads, columns); }

/// matrix[j * columns + thread]: consecutive threads read consecutive elements.
ProgramAccess own_column(std::uint32_t matrix) { return by_thread(matrix, block_threads, columns); }

/// vector[j]: all threads read the same element.
ProgramAccess at_pass(std::uint32_t vector) { return {.array = vector, .per_inner = 1}; }

/// vector[thread], stored in each pass, as the compiler must assume that the sum overlaps an
/// operand.
ProgramAccess sum_of_thread(std::uint32_t vector) {
  return stored(by_thread(vector, block_threads));
}

/// One block on an SM: there are 16 blocks of 256 threads for 15 SMs.
PaperProgram make_taught(AccessProgram program) {
  return {.program = std::move(program), .high_contention = true, .taught = true};
}

/// plane[(i + down) * width + j + right] of the thread at i, j. Rows begin one element in, so that
/// down and right may be -1.
ProgramAccess at_point(std::uint32_t plane, std::uint32_t width, int down, int right) {
  const auto first = static_cast<std::uint32_t>((1 + down) * static_cast<int>(width) + 1 + right);
  return by_point(plane, width, 32, 8, first);
}

}  // namespace

PaperProgram atax() {
  return make_taught({.name = "atx",
                      .array_elements = {elements_of_matrix, rows, rows, rows},
                      .kernels = {over_rows({own_row(0), at_pass(1), sum_of_thread(2)}),
                                  over_rows({own_column(0), at_pass(2), sum_of_thread(3)})}});
}

PaperProgram bicg() {
  return make_taught({.name = "bic",
                      .array_elements = {elements_of_matrix, rows, rows, rows, rows},
                      .kernels = {over_rows({own_column(0), at_pass(1), sum_of_thread(2)}),
                                  over_rows({own_row(0), at_pass(3), sum_of_thread(4)})}});
}

PaperProgram mvt() {
  return make_taught({.name = "mvt",
                      .array_elements = {elements_of_matrix, rows, rows, rows, rows},
                      .kernels = {over_rows({own_row(0), at_pass(1), sum_of_thread(2)}),
                                  over_rows({own_column(0), at_pass(3), sum_of_thread(4)})}});
}

PaperProgram gesummv() {
  return make_taught(
      {.name = "gmv",
       .array_elements = {elements_of_matrix, elements_of_matrix, rows, rows, rows},
       .kernels = {over_rows(
           {own_row(0), at_pass(2), own_row(1), sum_of_thread(3), sum_of_thread(4)}, 9)}});
}

/// c[i][j] += a[i][k] * b[j][k] + b[i][k] * a[j][k], with blocks of 32 x 8 for j and i. The
/// original sums 2048 products, which are 1.1 million lines for each block; a run would end inside
/// the first block.
PaperProgram syr2k() {
  constexpr std::uint32_t size = 2048;
  constexpr std::int32_t products = 64;
  constexpr std::uint64_t elements = std::uint64_t{size} * size;
  const auto of_row = [](std::uint32_t array) {
    return ProgramAccess{
        .array = array, .per_block_y = 8 * size, .per_thread_y = size, .per_inner = 1};
  };
  ProgramKernel kernel = plane_kernel(size, 32, 8,
                                      {of_row(0), by_row(1, 32, size), of_row(1),
                                       by_row(0, 32, size), stored(by_point(2, size, 32, 8))},
                                      10);
  kernel.inner.first = products;
  PaperProgram result = make_taught(
      {.name = "s2k", .array_elements = {elements, elements, elements}, .kernels = {kernel}});
  result.resident_blocks = six_blocks;
  result.level = BypassLevel::block;
  return result;
}

/// symmat[j1][j2] += data[i][j1] * data[i][j2] for all i. A thread computes one j1 and begins with
/// j2 = j1. Sums are stored in each pass, as the compiler must assume that they overlap the
/// operands. All threads of a block do as many j2 as its first thread.
PaperProgram covariance() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint64_t elements = std::uint64_t{size + 1} * size;
  ProgramAccess other = by_thread(0, block_threads, size);
  other.per_outer = 1;
  const ProgramAccess sum{.store = true,
                          .array = 1,
                          .per_block_x = block_threads * (size + 1),
                          .per_thread_x = size + 1,
                          .per_outer = 1};
  ProgramKernel kernel = line_kernel(size / block_threads, block_threads, size,
                                     {by_thread(0, block_threads, size), other, sum}, 6);
  kernel.outer = {.first = size, .per_block = -static_cast<std::int32_t>(block_threads)};
  // One block per SM: there are 8 blocks for 15 SMs.
  return {.program = {.name = "cvr", .array_elements = {elements, elements}, .kernels = {kernel}}};
}

/// One point for each thread; one kernel each for ey, ex and hz in every step.
PaperProgram fdtd_2d() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t width = size + 32;
  constexpr std::uint64_t plane = std::uint64_t{width} * (size + 2);
  enum : std::uint32_t { ex, ey, hz };
  const auto at = [](std::uint32_t field, int down, int right) {
    return at_point(field, width, down, right);
  };
  const auto step = [](std::vector<ProgramAccess> body, std::uint32_t instructions) {
    return plane_kernel(size, 32, 8, std::move(body), instructions);
  };
  return by_blocks(
      {.name = "2df",
       .array_elements = {plane, plane, plane},
       .kernels = {step({at(ey, 0, 0), at(hz, 0, 0), at(hz, -1, 0), stored(at(ey, 0, 0))}, 12),
                   step({at(ex, 0, 0), at(hz, 0, 0), at(hz, 0, -1), stored(at(ex, 0, 0))}, 12),
                   step({at(hz, 0, 0), at(ex, 0, 1), at(ex, 0, 0), at(ey, 1, 0), at(ey, 0, 0),
                         stored(at(hz, 0, 0))},
                        14)}},
      six_blocks);
}

PaperProgram convolution_2d() {
  constexpr std::uint32_t size = 4096;
  constexpr std::uint32_t width = size + 32;
  constexpr std::uint64_t plane = std::uint64_t{width} * (size + 2);
  std::vector<ProgramAccess> body;
  for (int right : {-1, 0, 1}) {
    for (int down : {-1, 0, 1}) body.push_back(at_point(0, width, down, right));
  }
  body.push_back(stored(at_point(1, width, 0, 0)));
  return by_blocks({.name = "2dv",
                    .array_elements = {plane, plane},
                    .kernels = {plane_kernel(size, 32, 8, std::move(body), 26)}},
                   six_blocks);
}

}  // namespace sonde
