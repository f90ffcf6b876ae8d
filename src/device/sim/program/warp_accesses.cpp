#include "device/sim/program/warp_accesses.hpp"

#include "base/gpu_facts.hpp"

#include <bit>

namespace sonde::sim {

KernelAccesses::KernelAccesses(const AccessProgram& program, const ProgramKernel& kernel,
                               std::uint64_t buffer_address, std::uint64_t line_bytes)
    : program_(&program),
      kernel_(&kernel),
      warps_(block_warps(kernel)),
      line_shift_(std::countr_zero(line_bytes)),
      sector_mask_(line_bytes / smallest_sector_bytes - 1) {
  const std::vector<std::uint64_t> offsets = array_offsets_bytes(program);
  for (const ProgramAccess& access : kernel.body) {
    array_addresses_.push_back(buffer_address + offsets[access.array]);
    for (std::uint32_t thread = 0; thread < kernel.block_x * kernel.block_y; ++thread) {
      thread_elements_.push_back(access.per_thread_x * (thread % kernel.block_x) +
                                 access.per_thread_y * (thread / kernel.block_x));
    }
  }
  for (std::size_t first = 0; first < thread_elements_.size(); first += warp_threads) {
    const std::uint32_t* elements = &thread_elements_[first];
    std::uint32_t step = elements[1] - elements[0];
    for (std::uint32_t thread = 2; thread < warp_threads; ++thread) {
      if (elements[thread] - elements[thread - 1] != step) step = uneven;
    }
    // Backwards, as when a row of threads ends, is uneven, too.
    thread_steps_.push_back(step * program_element_bytes <= smallest_sector_bytes ? step : uneven);
  }
}

WarpAccesses::WarpAccesses(const KernelAccesses& kernel, const ProgramWarp& warp)
    : kernel_(&kernel),
      warp_(warp),
      outers_(passes_of(kernel.kernel().outer, warp)),
      inners_(passes_of(kernel.kernel().inner, warp)) {
  const ProgramKernel& k = kernel.kernel();
  for (std::size_t at = 0; at < k.body.size(); ++at) {
    elements_[at] = k.body[at].first + k.body[at].per_block_x * warp.block_x +
                    k.body[at].per_block_y * warp.block_y;
  }
  first_thread_ = (warp.block_y * k.grid_x + warp.block_x) * k.block_x * k.block_y +
                  warp.warp * static_cast<std::uint32_t>(warp_threads);
  if (inners_ == 0) outers_ = 0;
}

std::uint32_t WarpAccesses::drawn(const ProgramAccess& access, std::uint32_t thread) const {
  return access.drawn_step * program_draw(kernel_->program_->seed, access.draw,
                                          (first_thread_ + thread) / access.drawn_threads, outer_,
                                          inner_, access.drawn_elements);
}

/// A thread of which no thread before it had the line, or one had it.
void WarpAccesses::add(std::uint64_t address, AccessLines& lines) const {
  const std::uint64_t line = address >> kernel_->line_shift_;
  const Sectors sector = 1u << (address / smallest_sector_bytes & kernel_->sector_mask_);
  std::uint32_t at = lines.count;
  while (at > 0 && lines.lines[at - 1].line != line) --at;
  if (at == 0) {
    lines.lines[lines.count++] = {.line = line, .sectors = sector};
  } else {
    lines.lines[at - 1].sectors |= sector;
  }
}

void WarpAccesses::lines(AccessLines& lines) const {
  const ProgramAccess& access = this->access();
  const std::uint32_t element =
      elements_[at_] + access.per_outer * outer_ + access.per_inner * inner_;
  const std::size_t warp = at_ * static_cast<std::size_t>(kernel_->warps_) + warp_.warp;
  const std::uint32_t* offsets = &kernel_->thread_elements_[warp * warp_threads];
  const std::uint64_t array = kernel_->array_addresses_[at_];
  lines.count = 0;
  const std::uint32_t step = kernel_->thread_steps_[warp];
  if (step != KernelAccesses::uneven && access.drawn_elements == 0) {
    const std::uint64_t first = array + std::uint64_t{element + offsets[0]} * program_element_bytes;
    const std::uint64_t last = first + (warp_threads - 1) * step * program_element_bytes;
    // At most a sector apart they cover all sectors from the first to the last.
    for (std::uint64_t sector = first / smallest_sector_bytes;
         sector <= last / smallest_sector_bytes; ++sector) {
      add(sector * smallest_sector_bytes, lines);
    }
    return;
  }
  std::uint32_t shared_draw = 0;
  for (std::uint32_t thread = 0; thread < warp_threads; ++thread) {
    if (access.drawn_elements > 0 &&
        (thread == 0 || (first_thread_ + thread) % access.drawn_threads == 0)) {
      shared_draw = drawn(access, thread);
    }
    add(array + std::uint64_t{element + offsets[thread] + shared_draw} * program_element_bytes,
        lines);
  }
}

void WarpAccesses::advance() {
  const std::vector<ProgramAccess>& body = kernel_->kernel_->body;
  for (++at_; at_ < body.size(); ++at_) {
    if (body[at_].pass == AccessPass::every ||
        (body[at_].pass == AccessPass::first && inner_ == 0) ||
        (body[at_].pass == AccessPass::last && inner_ + 1 == inners_)) {
      return;
    }
  }
  at_ = 0;
  if (++inner_ < inners_) return;
  inner_ = 0;
  ++outer_;
}

}  // namespace sonde::sim
