#include "jobs/bypass/rows.hpp"

#include "base/gpu_facts.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// Elements of a row: 16 lines and one more, so that rows do not begin in the same set.
constexpr std::uint32_t row_elements = 17 * 32;
constexpr std::uint32_t read_elements = 16 * 32;

PaperProgram make_rows(int warps, int sm_count) {
  const auto threads = static_cast<std::uint32_t>(warps) * static_cast<std::uint32_t>(warp_threads);
  const auto blocks = static_cast<std::uint32_t>(sm_count);
  ProgramKernel kernel{.grid_x = blocks,
                       .block_x = threads,
                       .inner = {.first = static_cast<std::int32_t>(read_elements)}};
  kernel.body = {{.array = 0,
                  .per_block_x = threads * row_elements,
                  .per_thread_x = row_elements,
                  .per_inner = 1}};
  return {.program = {.name = fmt::format("rows_{}", warps),
                      .array_elements = {std::uint64_t{blocks} * threads * row_elements},
                      .kernels = {kernel}},
          .high_contention = true,
          .taught = warps == 8};
}

}  // namespace

std::vector<PaperProgram> row_programs(int most_block_warps, int sm_count) {
  std::vector<PaperProgram> programs;
  for (int warps : {8, 16, 32}) {
    if (warps <= most_block_warps) programs.push_back(make_rows(warps, sm_count));
  }
  return programs;
}

}  // namespace sonde
