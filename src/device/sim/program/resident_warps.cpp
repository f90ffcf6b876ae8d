#include "device/sim/program/resident_warps.hpp"

#include "device/device_error.hpp"

#include <algorithm>

namespace sonde::sim {

ResidentWarps::ResidentWarps(const ResidentShape& shape, const KernelAccesses& kernel, double begin)
    : shape_(shape), kernel_(&kernel) {
  const int held = shape.blocks * shape.block_warps;
  one_by_one_ = shape.active > 0 && shape.active < held;
  warps_.resize(static_cast<std::size_t>(one_by_one_ ? shape.active : held));
  running_.resize(static_cast<std::size_t>(shape.blocks));
  const ProgramKernel& k = kernel.kernel();
  const std::uint64_t blocks = std::uint64_t{k.grid_x} * k.grid_y;
  if (shape.rank < blocks) own_blocks_ = (blocks - shape.rank - 1) / shape.ranks + 1;
  bool any = false;
  for (std::uint64_t block = 0; block < own_blocks_ && !any; ++block) any = has_accesses(block);
  if (!any) {
    throw DeviceError(
        "no warp of an SM makes an access (the passes of a loop are 0 in each of its "
        "blocks) play the program on fewer SMs");
  }
  if (one_by_one_) {
    for (ResidentWarp& warp : warps_) begin_next_warp(warp, begin);
    return;
  }
  for (std::size_t first = 0; first < warps_.size();
       first += static_cast<std::size_t>(shape.block_warps)) {
    begin_block(first, begin);
  }
}

/// @param block among those of this SM
bool ResidentWarps::has_accesses(std::uint64_t block) const {
  const ProgramKernel& kernel = kernel_->kernel();
  const std::uint64_t number =
      (block * shape_.ranks + shape_.rank) % (std::uint64_t{kernel.grid_x} * kernel.grid_y);
  for (int warp = 0; warp < shape_.block_warps; ++warp) {
    const ProgramWarp found{.block_x = static_cast<std::uint32_t>(number % kernel.grid_x),
                            .block_y = static_cast<std::uint32_t>(number / kernel.grid_x),
                            .warp = static_cast<std::uint32_t>(warp)};
    if (count_accesses(kernel, found) > 0) return true;
  }
  return false;
}

/// @param number of the warp among all that come to the SM, block after block, over and over
void ResidentWarps::begin_warp(ResidentWarp& warp, std::uint64_t number, double time) {
  const ProgramKernel& kernel = kernel_->kernel();
  const auto block_warps = static_cast<std::uint64_t>(shape_.block_warps);
  const std::uint64_t block = (number / block_warps % own_blocks_ * shape_.ranks + shape_.rank) %
                              (std::uint64_t{kernel.grid_x} * kernel.grid_y);
  warp = {.accesses =
              WarpAccesses(*kernel_, {.block_x = static_cast<std::uint32_t>(block % kernel.grid_x),
                                      .block_y = static_cast<std::uint32_t>(block / kernel.grid_x),
                                      .warp = static_cast<std::uint32_t>(number % block_warps)}),
          .warp = static_cast<int>(number % block_warps),
          .pass_ready = time};
}

/// The next warp with an access, of whatever block.
void ResidentWarps::begin_next_warp(ResidentWarp& warp, double time) {
  do {
    begin_warp(warp, begun_++, time);
  } while (warp.accesses.at_end());
}

/// The next block with an access.
void ResidentWarps::begin_block(std::size_t first, double time) {
  while (!has_accesses(begun_ % own_blocks_)) ++begun_;
  const auto block_warps = static_cast<std::size_t>(shape_.block_warps);
  int& running = running_[first / block_warps];
  running = 0;
  for (std::size_t warp = 0; warp < block_warps; ++warp) {
    begin_warp(warps_[first + warp], begun_ * block_warps + warp, time);
    running += warps_[first + warp].accesses.at_end() ? 0 : 1;
  }
  ++begun_;
}

ReplacedSlots ResidentWarps::end_warp(std::size_t slot) {
  if (one_by_one_) {
    begin_next_warp(warps_[slot], warps_[slot].pass_ready);
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
