// Accesses and kernels that many programs use.
#pragma once

#include "device/probe/program_probe.hpp"

#include <utility>
#include <vector>

namespace sonde {

/// array[thread], with consecutive threads of all blocks. @param per_inner step to the next pass
constexpr ProgramAccess by_thread(std::uint32_t array, std::uint32_t block_threads,
                                  std::uint32_t per_inner = 0) {
  return {.array = array, .per_block_x = block_threads, .per_thread_x = 1, .per_inner = per_inner};
}

/// array[thread * row + pass]: each thread reads a row of its own.
constexpr ProgramAccess by_row(std::uint32_t array, std::uint32_t block_threads,
                               std::uint32_t row) {
  return {.array = array, .per_block_x = block_threads * row, .per_thread_x = row, .per_inner = 1};
}

/// plane[y * width + x + first] of the thread at x, y, in blocks of block_x * block_y.
constexpr ProgramAccess by_point(std::uint32_t plane, std::uint32_t width, std::uint32_t block_x,
                                 std::uint32_t block_y, std::uint32_t first = 0) {
  return {.array = plane,
          .first = first,
          .per_block_x = block_x,
          .per_block_y = block_y * width,
          .per_thread_x = 1,
          .per_thread_y = width};
}

/// A random element of a table of this size for each thread.
constexpr ProgramAccess drawn(std::uint32_t array, std::uint32_t elements) {
  return {.waits = true, .array = array, .drawn_elements = elements};
}

/// The access as a store.
constexpr ProgramAccess stored(ProgramAccess access) {
  access.store = true;
  return access;
}

/// The access in some passes of the inner loop only.
constexpr ProgramAccess in_pass(AccessPass pass, ProgramAccess access) {
  access.pass = pass;
  return access;
}

/// A kernel of one dimension. @param instructions of a pass, without its accesses
inline ProgramKernel line_kernel(std::uint32_t blocks, std::uint32_t threads, std::uint32_t passes,
                                 std::vector<ProgramAccess> body, std::uint32_t instructions) {
  return {.grid_x = blocks,
          .block_x = threads,
          .inner = {.first = static_cast<std::int32_t>(passes)},
          .body = std::move(body),
          .instructions = instructions};
}

/// A kernel with a thread for each point of a plane of size * size.
inline ProgramKernel plane_kernel(std::uint32_t size, std::uint32_t block_x, std::uint32_t block_y,
                                  std::vector<ProgramAccess> body, std::uint32_t instructions) {
  return {.grid_x = size / block_x,
          .grid_y = size / block_y,
          .block_x = block_x,
          .block_y = block_y,
          .body = std::move(body),
          .instructions = instructions};
}

}  // namespace sonde
