// The programs of Polybench-GPU with low cache contention: a covariance matrix and two stencils.
#include "jobs/bypass/programs.hpp"

#include <utility>
#include <vector>

namespace sonde {
namespace {

/// Threads of a stencil's block, 32 x 8, on a grid of `size` x `size` elements.
ProgramKernel plane_kernel(std::uint32_t size, std::vector<ProgramAccess> body,
                           std::uint32_t instructions) {
  return {.grid_x = size / 32,
          .grid_y = size / 8,
          .block_x = 32,
          .block_y = 8,
          .body = std::move(body),
          .instructions = instructions};
}

/// plane[(i + down) * width + j + right] of the thread at i, j; rows begin one element in, so that
/// down and right may be as small as -1.
ProgramAccess at_point(std::uint32_t plane, std::uint32_t width, int down, int right) {
  const auto first = static_cast<std::uint32_t>((1 + down) * static_cast<int>(width) + 1 + right);
  return {.array = plane,
          .first = first,
          .per_block_x = 32,
          .per_block_y = 8 * width,
          .per_thread_x = 1,
          .per_thread_y = width};
}

ProgramAccess stored(ProgramAccess access) {
  access.store = true;
  return access;
}

/// Six blocks on an SM: 1536 threads of 256.
PaperProgram make_low(AccessProgram program) {
  return {.program = std::move(program), .resident_blocks = 6, .level = BypassLevel::block};
}

}  // namespace

/// symmat[j1][j2] += data[i][j1] * data[i][j2] for all i, with a thread for j1, whose j2 begin at
/// its own j1; stored in each pass, as the compiler cannot tell the sum from the operands. All
/// threads of a block make as many j2 as its first.
PaperProgram covariance() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t threads = 256;
  ProgramKernel kernel{.grid_x = size / threads, .block_x = threads};
  kernel.outer = {.first = size, .per_block = -static_cast<std::int32_t>(threads)};
  kernel.inner = {.first = static_cast<std::int32_t>(size)};
  kernel.body = {
      {.array = 0, .per_block_x = threads, .per_thread_x = 1, .per_inner = size},
      {.array = 0, .per_block_x = threads, .per_thread_x = 1, .per_outer = 1, .per_inner = size},
      {.store = true,
       .array = 1,
       .per_block_x = threads * (size + 1),
       .per_thread_x = size + 1,
       .per_outer = 1}};
  kernel.instructions = 6;
  const std::uint64_t elements = std::uint64_t{size + 1} * size;
  // One block on an SM: there are 8 for 15 SMs.
  return {.program = {.name = "cvr", .array_elements = {elements, elements}, .kernels = {kernel}}};
}

/// One point for each thread; one kernel each for ey, ex and hz, step after step.
PaperProgram fdtd_2d() {
  constexpr std::uint32_t size = 2048;
  constexpr std::uint32_t width = size + 32;
  constexpr std::uint64_t plane = std::uint64_t{width} * (size + 2);
  enum : std::uint32_t { ex, ey, hz };
  const auto at = [](std::uint32_t field, int down, int right) {
    return at_point(field, width, down, right);
  };
  return make_low(
      {.name = "2df",
       .array_elements = {plane, plane, plane},
       .kernels = {plane_kernel(
                       size, {at(ey, 0, 0), at(hz, 0, 0), at(hz, -1, 0), stored(at(ey, 0, 0))}, 12),
                   plane_kernel(
                       size, {at(ex, 0, 0), at(hz, 0, 0), at(hz, 0, -1), stored(at(ex, 0, 0))}, 12),
                   plane_kernel(size,
                                {at(hz, 0, 0), at(ex, 0, 1), at(ex, 0, 0), at(ey, 1, 0),
                                 at(ey, 0, 0), stored(at(hz, 0, 0))},
                                14)}});
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
  return make_low({.name = "2dv",
                   .array_elements = {plane, plane},
                   .kernels = {plane_kernel(size, std::move(body), 26)}});
}

}  // namespace sonde
