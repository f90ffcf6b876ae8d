// Finds the elements that the warps of a program access, pass after pass.
#include "device/probe/program_plan.hpp"

#include "base/gpu_facts.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

constexpr std::uint64_t array_alignment_bytes = 4096;

/// A hash of 32 bits whose every output bit depends on every input bit ("lowbias32", C. Wellons).
constexpr std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

bool is_made(const ProgramAccess& access, std::uint32_t inner, std::uint32_t inners) {
  return access.pass == AccessPass::every || (access.pass == AccessPass::first && inner == 0) ||
         (access.pass == AccessPass::last && inner + 1 == inners);
}

std::uint64_t count_accesses(const ProgramKernel& kernel) {
  std::uint64_t accesses = 0;
  const auto warps = static_cast<std::uint32_t>(block_warps(kernel));
  for (std::uint32_t block = 0; block < kernel.grid_x; ++block) {
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      accesses += count_accesses(kernel, {.block_x = block, .block_y = 0, .warp = warp});
    }
  }
  return accesses * kernel.grid_y;
}

}  // namespace

std::vector<std::uint64_t> array_offsets_bytes(const AccessProgram& program) {
  std::vector<std::uint64_t> offsets{0};
  for (std::uint64_t elements : program.array_elements) {
    const std::uint64_t bytes = elements * program_element_bytes;
    const std::uint64_t padded = (bytes + array_alignment_bytes - 1) / array_alignment_bytes;
    offsets.push_back(offsets.back() + padded * array_alignment_bytes);
  }
  return offsets;
}

std::uint32_t passes_of(const PassCount& count, const ProgramWarp& warp) {
  const std::int64_t passes = count.first + std::int64_t{count.per_block} * warp.block_x +
                              std::int64_t{count.per_warp} * warp.warp;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(passes, 0));
}

std::uint64_t count_accesses(const ProgramKernel& kernel, const ProgramWarp& warp) {
  const std::uint64_t inners = passes_of(kernel.inner, warp);
  std::uint64_t accesses = 0;
  for (const ProgramAccess& access : kernel.body) {
    accesses += access.pass == AccessPass::every ? inners : std::min<std::uint64_t>(inners, 1);
  }
  return accesses * passes_of(kernel.outer, warp);
}

std::vector<std::uint64_t> share_accesses(const AccessProgram& program, std::uint64_t sm_accesses,
                                          std::uint64_t multiple) {
  std::vector<double> weights;
  double sum = 0;
  for (const ProgramKernel& kernel : program.kernels) {
    weights.push_back(static_cast<double>(count_accesses(kernel)));
    sum += weights.back();
  }
  std::vector<std::uint64_t> shares;
  for (double weight : weights) {
    const double share = static_cast<double>(sm_accesses) * weight / sum;
    const auto multiples = std::llround(share / static_cast<double>(multiple));
    shares.push_back(static_cast<std::uint64_t>(std::max(multiples, 1LL)) * multiple);
  }
  return shares;
}

std::uint32_t hash_draw(std::uint32_t seed, std::uint32_t draw) { return mix(seed + draw); }

std::uint32_t program_draw(std::uint32_t seed, std::uint32_t draw, std::uint32_t group,
                           std::uint32_t outer, std::uint32_t inner, std::uint32_t range) {
  constexpr std::uint32_t golden = 0x9e3779b9u;  // 2^32 / golden ratio: neighbours lie far apart
  const std::uint32_t drawn = mix(mix(hash_draw(seed, draw) ^ group) + outer * golden + mix(inner));
  return static_cast<std::uint32_t>(std::uint64_t{drawn} * range >> 32);
}

ProgramCursor::ProgramCursor(const AccessProgram& program, const ProgramKernel& kernel,
                             const ProgramWarp& warp)
    : program_(&program),
      kernel_(&kernel),
      warp_(warp),
      outers_(passes_of(kernel.outer, warp)),
      inners_(passes_of(kernel.inner, warp)) {
  if (inners_ == 0) outers_ = 0;
}

void ProgramCursor::elements(std::uint64_t (&elements)[32]) const {
  static_assert(warp_threads == 32);
  const ProgramAccess& access = kernel_->body[at_];
  const std::uint32_t base = access.first + access.per_block_x * warp_.block_x +
                             access.per_block_y * warp_.block_y + access.per_outer * outer_ +
                             access.per_inner * inner_;
  const std::uint32_t block = warp_.block_y * kernel_->grid_x + warp_.block_x;
  const std::uint32_t first = warp_.warp * static_cast<std::uint32_t>(warp_threads);
  std::uint32_t number = block * kernel_->block_x * kernel_->block_y + first;
  std::uint32_t x = first % kernel_->block_x;
  std::uint32_t y = first / kernel_->block_x;
  std::uint32_t drawn = 0;
  for (std::uint32_t lane = 0; lane < warp_threads; ++lane, ++number) {
    if (access.drawn_elements > 0 && (lane == 0 || number % access.drawn_threads == 0)) {
      drawn = access.drawn_step * program_draw(program_->seed, access.draw,
                                               number / access.drawn_threads, outer_, inner_,
                                               access.drawn_elements);
    }
    const std::uint32_t element = base + access.per_thread_x * x + access.per_thread_y * y + drawn;
    elements[lane] = element;
    if (++x < kernel_->block_x) continue;
    x = 0;
    ++y;
  }
}

void ProgramCursor::advance() {
  begins_pass_ = false;
  ++at_;
  settle();
}

/// Skips accesses that this pass does not make. Every pass makes the first access of a body.
void ProgramCursor::settle() {
  while (!at_end()) {
    if (at_ < kernel_->body.size()) {
      if (is_made(kernel_->body[at_], inner_, inners_)) return;
      ++at_;
      continue;
    }
    at_ = 0;
    begins_pass_ = true;
    if (++inner_ < inners_) continue;
    inner_ = 0;
    ++outer_;
  }
}

}  // namespace sonde
