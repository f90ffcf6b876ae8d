// Adds up what the kernel of a chase keeps in shared memory (kernels/chase/chase_kernel.cuh).
#include "device/layout/chase_shared.hpp"

#include "device/device.hpp"
#include "device/device_error.hpp"
#include "device/layout/chain.hpp"
#include "device/layout/path_parts.hpp"
#include "device/layout/place.hpp"
#include "trace/trace.hpp"

#include <algorithm>
#include <map>

namespace sonde::layout {
namespace {

constexpr std::uint64_t entry_bytes = sizeof(std::uint32_t);  // of a list, and of a histogram

std::uint64_t most_lanes_on_sm(const ChaseProbe& probe) {
  std::map<int, std::uint64_t> lanes;
  std::uint64_t most = 0;
  for (const ChaseLane& lane : probe.lanes) most = std::max(most, ++lanes[lane.sm]);
  return most;
}

std::uint64_t needed_bytes_of(const ChaseProbe& probe) {
  return chase_shared_bytes(probe, needs_script(probe));
}

}  // namespace

bool needs_script(const ChaseProbe& probe) {
  const LoadPath path = probe.lanes.front().path;
  return path == LoadPath::instruction || !plan_chains(probe.lanes, word_layout(path));
}

std::uint64_t chase_shared_bytes(const ChaseProbe& probe, bool is_script) {
  const bool is_counted = probe.timed_accesses > probe.recorded_accesses;
  std::uint64_t entries = is_counted ? histogram_bins : 0;
  if (is_script) {
    std::uint64_t longest = 0;
    for (const ChaseLane& lane : probe.lanes)
      longest = std::max<std::uint64_t>(longest, lane.offsets_bytes.size());
    entries += longest;
  }
  const std::uint64_t in_entries =
      (probe.recorded_accesses * record_bytes + entry_bytes - 1) / entry_bytes;
  return record_overhead_bytes + most_lanes_on_sm(probe) * (in_entries + entries) * entry_bytes;
}

SharedPlan plan_chase(const DeviceInfo& info, const ChaseProbe& probe) {
  const auto is_code = [](const ChaseLane& lane) { return lane.path == LoadPath::instruction; };
  if (probe.amortised_accesses > 0 && std::ranges::any_of(probe.lanes, is_code)) {
    throw DeviceError(
        "a chase through code cannot be amortised (its loop would also read the order of "
        "accesses). Time the accesses one by one");
  }
  if (common_path(probe)) {
    return plan_shared(info, needed_bytes_of(probe), probe.shared_carveout_bytes);
  }
  std::uint64_t needed_bytes = 0;
  const std::vector<PathPart> parts = split_by_path(probe);
  for (const PathPart& part : parts)
    needed_bytes = std::max(needed_bytes, needed_bytes_of(part.probe));
  return plan_shared(info, needed_bytes, probe.shared_carveout_bytes, parts.size());
}

}  // namespace sonde::layout
