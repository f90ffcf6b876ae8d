#include "device/sim/program/kernel_work.hpp"

#include "device/device_error.hpp"

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

}  // namespace sonde::sim
