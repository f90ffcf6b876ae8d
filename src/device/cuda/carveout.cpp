// See carveout.hpp.
#include "device/cuda/carveout.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

[[noreturn]] void throw_too_small(std::uint64_t needed_bytes, std::uint64_t there_bytes) {
  throw DeviceError(fmt::format(
      "a block needs {} of shared memory for its record, and has {} (accesses are recorded there). "
      "Record fewer accesses, or ask for a larger shared part of the L1",
      format_bytes(static_cast<double>(needed_bytes)),
      format_bytes(static_cast<double>(there_bytes))));
}

}  // namespace

SharedPlan plan_shared(const DeviceInfo& info, std::uint64_t needed_bytes,
                       std::optional<std::uint64_t> asked_bytes) {
  if (needed_bytes > info.shared_bytes_per_block) {
    throw_too_small(needed_bytes, info.shared_bytes_per_block);
  }
  if (info.shared_carveouts_bytes.empty()) {
    return {0, static_cast<unsigned>(needed_bytes), -1};
  }
  const std::uint64_t reserved = info.reserved_shared_bytes_per_block;
  const auto& cuts = info.shared_carveouts_bytes;
  const auto cut =
      std::lower_bound(cuts.begin(), cuts.end(), asked_bytes.value_or(needed_bytes + reserved));
  if (cut == cuts.end())
    throw_too_small(asked_bytes.value_or(needed_bytes + reserved), cuts.back());
  if (*cut < needed_bytes + reserved)
    throw_too_small(needed_bytes, *cut > reserved ? *cut - reserved : 0);
  SharedPlan plan;
  plan.carveout_bytes = *cut;
  plan.dynamic_bytes =
      static_cast<unsigned>(std::min(*cut - reserved, info.shared_bytes_per_block));
  // A percentage between two cuts means the larger, so rounding down is right.
  plan.carveout_percent = static_cast<int>(*cut * 100 / info.shared_bytes_per_sm);
  return plan;
}

}  // namespace sonde::cuda
