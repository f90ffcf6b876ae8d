#include "jobs/bypass/programs.hpp"

#include "base/gpu_facts.hpp"
#include "device/program_plan.hpp"

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

constexpr std::uint64_t line_bytes = 128;
constexpr std::uint32_t sampled_blocks = 5;
constexpr std::uint64_t sampled_accesses = 200;  // of each sampled warp

/// Lines that an access covers.
std::size_t count_lines(const ProgramCursor& cursor) {
  std::uint64_t elements[32];
  cursor.elements(elements);
  std::vector<std::uint64_t> lines;
  for (std::uint64_t element : elements) {
    lines.push_back(element * program_element_bytes / line_bytes);
  }
  std::ranges::sort(lines);
  return static_cast<std::size_t>(std::distance(lines.begin(), std::ranges::unique(lines).begin()));
}

double lines_of_kernel(const AccessProgram& program, const ProgramKernel& kernel) {
  std::size_t lines = 0;
  std::uint64_t accesses = 0;
  for (std::uint32_t sample = 0; sample < sampled_blocks; ++sample) {
    const ProgramWarp warp{.block_x = kernel.grid_x * sample / sampled_blocks,
                           .block_y = kernel.grid_y * sample / sampled_blocks,
                           .warp = sample % static_cast<std::uint32_t>(block_warps(kernel))};
    ProgramCursor cursor(program, kernel, warp);
    for (std::uint64_t i = 0; i < sampled_accesses && !cursor.at_end(); ++i, ++accesses) {
      lines += count_lines(cursor);
      cursor.advance();
    }
  }
  return accesses == 0 ? 1 : static_cast<double>(lines) / static_cast<double>(accesses);
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

double lines_per_access(const AccessProgram& program) {
  const std::vector<std::uint64_t> shares = share_accesses(program, 1u << 20, 1);
  double lines = 0;
  double accesses = 0;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    lines += static_cast<double>(shares[at]) * lines_of_kernel(program, program.kernels[at]);
    accesses += static_cast<double>(shares[at]);
  }
  return lines / accesses;
}

}  // namespace sonde
