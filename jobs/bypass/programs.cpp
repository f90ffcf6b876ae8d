// Lists the sixteen programs, each defined in the file of its collection, and makes the rows.
#include "jobs/bypass/programs.hpp"

#include "base/gpu_facts.hpp"
#include "jobs/bypass/accesses.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// Elements of a row: 16 lines plus one, so that rows begin in different sets.
constexpr std::uint32_t row_elements = 17 * 32;
constexpr std::uint32_t read_elements = 16 * 32;

PaperProgram make_rows(int warps, int sm_count) {
  const auto threads = static_cast<std::uint32_t>(warps) * static_cast<std::uint32_t>(warp_threads);
  const auto blocks = static_cast<std::uint32_t>(sm_count);
  return {.program = {.name = fmt::format("rows_{}", warps),
                      .array_elements = {std::uint64_t{blocks} * threads * row_elements},
                      .kernels = {line_kernel(blocks, threads, read_elements,
                                              {by_row(0, threads, row_elements)}, 0)}},
          .high_contention = true,
          .taught = warps == 8};
}

}  // namespace

std::vector<PaperProgram> paper_programs() {
  return {particle_filter(),
          stream_cluster(),
          barnes_hut(),
          histogram(),
          syr2k(),
          kmeans(),
          gesummv(),
          atax(),
          mvt(),
          bicg(),
          scalar_product(),
          covariance(),
          lu_decomposition(),
          srad2(),
          fdtd_2d(),
          convolution_2d()};
}

std::vector<PaperProgram> row_programs(int most_block_warps, int sm_count) {
  std::vector<PaperProgram> programs;
  for (int warps : {8, 16, 32}) {
    if (warps <= most_block_warps) programs.push_back(make_rows(warps, sm_count));
  }
  return programs;
}

}  // namespace sonde
