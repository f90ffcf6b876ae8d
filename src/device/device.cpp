// What every backend shares: checks before a probe, and the accessed addresses and kept lanes after
// it.
#include "device/device.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace sonde {
namespace {

/// The recorded accesses of a lane go on where its warm-up ended in its list. Stores their offsets
/// for at most one round.
void fill_accessed_offsets(const ChaseProbe& probe, Trace& trace) {
  require(trace.lanes.size() == probe.lanes.size(), "a backend lost a lane of a chase");
  for (std::size_t i = 0; i < trace.lanes.size(); ++i) {
    const auto& list = probe.lanes[i].offsets_bytes;
    LaneTrace& lane = trace.lanes[i];
    lane.offsets_bytes.resize(std::min(list.size(), lane.window_cycles.size()));
    std::size_t at = probe.warmup_accesses % list.size();
    for (std::uint64_t& offset : lane.offsets_bytes) {
      offset = list[at];
      at = at + 1 == list.size() ? 0 : at + 1;
    }
  }
}

/// Refuses NaN: comparisons with it are false, so such a time would silently never be the best one.
void check_times(const Trace& trace) {
  for (const double repeat_ns : trace.repeat_ns) {
    if (std::isfinite(repeat_ns) && repeat_ns > 0) continue;
    throw DeviceError(
        "a repeat has no valid time (NaN, zero or negative: the timer of the GPU cannot be "
        "trusted) look at dmesg");
  }
}

}  // namespace

Trace Device::run(const ProbeSpec& spec) {
  validate_probe(spec, info().sm_count);
  Trace trace = play(spec);
  check_times(trace);
  if (const auto* program = std::get_if<ProgramProbe>(&spec)) keep_lanes(*program, trace.lanes);
  if (const auto* chase = std::get_if<ChaseProbe>(&spec)) fill_accessed_offsets(*chase, trace);
  return trace;
}

std::uint64_t Device::recordable_accesses(std::uint64_t shared_carveout_bytes) const {
  const DeviceInfo& gpu = info();
  const std::uint64_t per_block = std::min(
      shared_carveout_bytes, gpu.shared_bytes_per_block + gpu.reserved_shared_bytes_per_block);
  const std::uint64_t overhead = gpu.reserved_shared_bytes_per_block + record_overhead_bytes;
  return per_block > overhead ? (per_block - overhead) / record_bytes : 0;
}

}  // namespace sonde
