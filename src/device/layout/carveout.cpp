// Chooses the carve-out of a launch, which then asks the driver for it.
#include "device/layout/carveout.hpp"

#include "base/units.hpp"
#include "device/device_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::layout {
namespace {

[[noreturn]] void throw_too_small(std::uint64_t needed_bytes, std::uint64_t there_bytes) {
  throw ProbeTooLargeError(fmt::format(
      "a block needs {} of shared memory for its record, and has {} (accesses are recorded there, "
      "and some lists stand there). Record fewer accesses, or ask for a larger shared part of the "
      "L1",
      format_bytes(needed_bytes), format_bytes(there_bytes)));
}

}  // namespace

SharedPlan plan_shared(const DeviceInfo& info, std::uint64_t needed_bytes,
                       std::optional<std::uint64_t> asked_bytes, std::uint64_t blocks) {
  if (needed_bytes > info.shared_bytes_per_block) {
    throw_too_small(needed_bytes, info.shared_bytes_per_block);
  }
  const std::uint64_t reserved = info.reserved_shared_bytes_per_block;
  const auto part_of = [&](std::uint64_t shared_bytes) {
    return shared_bytes / blocks > reserved ? shared_bytes / blocks - reserved : 0;
  };
  const auto& carveouts = info.shared_carveouts_bytes;
  if (carveouts.empty()) {
    if (blocks > 1 && needed_bytes > part_of(info.shared_bytes_per_sm)) {
      throw_too_small(needed_bytes, part_of(info.shared_bytes_per_sm));
    }
    return {.dynamic_bytes = static_cast<unsigned>(needed_bytes)};
  }
  const std::uint64_t wanted = asked_bytes.value_or(blocks * (needed_bytes + reserved));
  const auto carveout = std::ranges::lower_bound(carveouts, wanted);
  if (carveout == carveouts.end()) throw_too_small(wanted, carveouts.back());
  if (needed_bytes > part_of(*carveout)) throw_too_small(needed_bytes, part_of(*carveout));
  const std::uint64_t block_bytes = std::min(part_of(*carveout), info.shared_bytes_per_block);
  // The driver takes a percentage between two carve-outs as the larger one: rounding down is right.
  return {.carveout_bytes = *carveout,
          .dynamic_bytes = static_cast<unsigned>(block_bytes),
          .carveout_percent = static_cast<int>(*carveout * 100 / info.shared_bytes_per_sm)};
}

}  // namespace sonde::layout
