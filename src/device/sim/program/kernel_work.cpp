#include "device/sim/program/kernel_work.hpp"

#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::sim {

KernelWork::KernelWork(const KernelAccesses& kernel, std::uint64_t step, std::uint64_t accesses)
    : kernel_(&kernel),
      blocks_(std::uint64_t{kernel.kernel().grid_x} * kernel.kernel().grid_y),
      step_(step),
      left_(accesses) {
  for (std::uint64_t block = 0; block < blocks_; block += step_) {
    if (has_accesses(block)) return;
  }
  throw DeviceError(
      "no warp of an SM makes an access (the passes of a loop are 0 in each of its blocks) give "
      "the loop passes, or play the program on fewer SMs");
}

ProgramWarp KernelWork::place_of(std::uint64_t block, std::uint64_t warp) const {
  const std::uint64_t columns = kernel_->kernel().grid_x;
  return {.block_x = static_cast<std::uint32_t>(block % columns),
          .block_y = static_cast<std::uint32_t>(block / columns),
          .warp = static_cast<std::uint32_t>(warp)};
}

bool KernelWork::has_accesses(std::uint64_t block) const {
  for (int warp = 0; warp < kernel_->warps(); ++warp) {
    const ProgramWarp place = place_of(block, static_cast<std::uint64_t>(warp));
    if (count_accesses(kernel_->kernel(), place) > 0) return true;
  }
  return false;
}

std::uint64_t KernelWork::take_block() {
  while (true) {
    const std::uint64_t block = next_;
    next_ = next_ + step_ < blocks_ ? next_ + step_ : 0;
    if (has_accesses(block)) return block;
  }
}

WarpAccesses KernelWork::warp_of(std::uint64_t block, std::uint64_t warp) const {
  return {*kernel_, place_of(block, warp)};
}

ResidentWarps::ResidentWarps(const ResidentShape& shape, KernelWork& work)
    : shape_(shape), work_(&work), next_warp_(static_cast<std::uint64_t>(shape.block_warps)) {
  const int held = shape.blocks * shape.block_warps;
  one_by_one_ = shape.active > 0 && shape.active < held;
  warps_.resize(static_cast<std::size_t>(one_by_one_ ? shape.active : held));
  running_.resize(static_cast<std::size_t>(shape.blocks));
}

void ResidentWarps::begin_warp(std::size_t slot, std::uint64_t block, std::uint64_t warp,
                               double time) {
  warps_[slot] = {
      .accesses = work_->warp_of(block, warp), .warp = static_cast<int>(warp), .pass_ready = time};
}

/// The next warp with an access, of the SM's block or of the one that comes then.
void ResidentWarps::begin_next_warp(std::size_t slot, double time) {
  do {
    if (next_warp_ == static_cast<std::uint64_t>(shape_.block_warps)) {
      block_ = work_->take_block();
      next_warp_ = 0;
    }
    begin_warp(slot, block_, next_warp_++, time);
  } while (warps_[slot].accesses.at_end());
}

void ResidentWarps::begin_block(std::size_t first, double time) {
  const auto block_warps = static_cast<std::size_t>(shape_.block_warps);
  const std::uint64_t block = work_->take_block();
  int& running = running_[first / block_warps];
  running = 0;
  for (std::size_t warp = 0; warp < block_warps; ++warp) {
    begin_warp(first + warp, block, warp, time);
    running += warps_[first + warp].accesses.at_end() ? 0 : 1;
  }
}

ReplacedSlots ResidentWarps::add_block(double time) {
  const std::size_t first = filled_;
  if (first == warps_.size()) return {};
  filled_ = std::min(first + static_cast<std::size_t>(shape_.block_warps), warps_.size());
  if (one_by_one_) {
    for (std::size_t slot = first; slot < filled_; ++slot) begin_next_warp(slot, time);
  } else {
    begin_block(first, time);
  }
  return {.first = first, .end = filled_};
}

ReplacedSlots ResidentWarps::end_warp(std::size_t slot) {
  if (one_by_one_) {
    begin_next_warp(slot, warps_[slot].pass_ready);
    return {.first = slot, .end = slot + 1};
  }
  const auto block_warps = static_cast<std::size_t>(shape_.block_warps);
  const std::size_t first = slot / block_warps * block_warps;
  if (--running_[slot / block_warps] > 0) return {};
  double done = 0;
  for (std::size_t other = first; other < first + block_warps; ++other) {
    done = std::max(done, warps_[other].pass_ready);
  }
  begin_block(first, done);
  return {.first = first, .end = first + block_warps};
}

}  // namespace sonde::sim
