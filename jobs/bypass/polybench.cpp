// The programs of Polybench-GPU with high cache contention: matrix times vector, a row or a column
// for each thread, and a rank-2k update.
#include "jobs/bypass/programs.hpp"

#include <utility>
#include <vector>

namespace sonde {
namespace {

// Rows and columns: 4096 in the originals; fewer columns do, as runs end long before a row does.
constexpr std::uint32_t rows = 4096;
constexpr std::uint32_t columns = 4096;
constexpr std::uint32_t block_threads = 256;
constexpr std::int32_t passes = 4096;

/// The blocks of one-dimensional kernels over `rows` threads.
ProgramKernel line_kernel(std::vector<ProgramAccess> body) {
  return {.grid_x = rows / block_threads,
          .block_x = block_threads,
          .inner = {.first = passes},
          .body = std::move(body),
          .instructions = 6};  // multiply-add, two additions to addresses, loop: compare, branch
}

/// matrix[thread * columns + j]: a line for each thread.
ProgramAccess own_row(std::uint32_t matrix) {
  return {.array = matrix,
          .per_block_x = block_threads * columns,
          .per_thread_x = columns,
          .per_inner = 1};
}

/// matrix[j * columns + thread]: the threads side by side.
ProgramAccess own_column(std::uint32_t matrix) {
  return {.array = matrix, .per_block_x = block_threads, .per_thread_x = 1, .per_inner = columns};
}

/// vector[j]: the same for all threads.
ProgramAccess at_pass(std::uint32_t vector) { return {.array = vector, .per_inner = 1}; }

/// vector[thread], stored in each pass: what is summed up may be one of the operands, for all that
/// the compiler knows.
ProgramAccess sum_of_thread(std::uint32_t vector) {
  return {.store = true, .array = vector, .per_block_x = block_threads, .per_thread_x = 1};
}

/// 16 blocks of 256 threads for 15 SMs: one on each, but for one SM.
PaperProgram make_taught(AccessProgram program) {
  return {.program = std::move(program), .high_contention = true, .taught = true};
}

constexpr std::uint64_t matrix = std::uint64_t{rows} * columns;

}  // namespace

PaperProgram atax() {
  return make_taught({.name = "atx",
                      .array_elements = {matrix, rows, rows, rows},
                      .kernels = {line_kernel({own_row(0), at_pass(1), sum_of_thread(2)}),
                                  line_kernel({own_column(0), at_pass(2), sum_of_thread(3)})}});
}

PaperProgram bicg() {
  return make_taught({.name = "bic",
                      .array_elements = {matrix, rows, rows, rows, rows},
                      .kernels = {line_kernel({own_column(0), at_pass(1), sum_of_thread(2)}),
                                  line_kernel({own_row(0), at_pass(3), sum_of_thread(4)})}});
}

PaperProgram mvt() {
  return make_taught({.name = "mvt",
                      .array_elements = {matrix, rows, rows, rows, rows},
                      .kernels = {line_kernel({own_row(0), at_pass(1), sum_of_thread(2)}),
                                  line_kernel({own_column(0), at_pass(3), sum_of_thread(4)})}});
}

PaperProgram gesummv() {
  ProgramKernel kernel =
      line_kernel({own_row(0), at_pass(2), own_row(1), sum_of_thread(3), sum_of_thread(4)});
  kernel.instructions = 9;
  return make_taught(
      {.name = "gmv", .array_elements = {matrix, matrix, rows, rows, rows}, .kernels = {kernel}});
}

/// c[i][j] += a[i][k] * b[j][k] + b[i][k] * a[j][k] with a block of 32 x 8 for j and i.
PaperProgram syr2k() {
  constexpr std::uint32_t size = 2048;
  const ProgramAccess of_row{.per_block_y = 8 * size, .per_thread_y = size, .per_inner = 1};
  const ProgramAccess of_column{.per_block_x = 32 * size, .per_thread_x = size, .per_inner = 1};
  const auto in = [](ProgramAccess access, std::uint32_t array) {
    access.array = array;
    return access;
  };
  ProgramKernel kernel{.grid_x = size / 32, .grid_y = size / 8, .block_x = 32, .block_y = 8};
  kernel.inner = {.first = static_cast<std::int32_t>(size)};
  kernel.body = {in(of_row, 0),
                 in(of_column, 1),
                 in(of_row, 1),
                 in(of_column, 0),
                 {.store = true,
                  .array = 2,
                  .per_block_x = 32,
                  .per_block_y = 8 * size,
                  .per_thread_x = 1,
                  .per_thread_y = size}};
  kernel.instructions = 10;
  PaperProgram result =
      make_taught({.name = "s2k",
                   .array_elements = {std::uint64_t{size} * size, std::uint64_t{size} * size,
                                      std::uint64_t{size} * size},
                   .kernels = {kernel}});
  result.resident_blocks = 6;  // 1536 threads
  result.level = BypassLevel::block;
  return result;
}

}  // namespace sonde
