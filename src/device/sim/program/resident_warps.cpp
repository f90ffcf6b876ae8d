#include "device/sim/program/resident_warps.hpp"

#include <algorithm>

namespace sonde::sim {

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
