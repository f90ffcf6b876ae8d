// Chases and streams whose buffer lies in the memory of another simulated GPU: only the link
// counts. No cache of this GPU keeps what is another one's, and the L2 of that one has it all.
#include "device/sim/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

void chase_lane(const Launch& launch, const LinkState& link, const ChaseProbe& probe, Noise& noise,
                LaneTrace& lane) {
  const bool counted = probe.timed_accesses > probe.recorded_accesses;
  std::vector<std::uint64_t> counts(counted ? histogram_bins : 0);
  for (std::uint64_t access = 0; access < probe.timed_accesses; ++access) {
    const std::uint32_t cycles = noise.disturb(link.latency_cycles, link.jitter_cycles) +
                                 launch.model.clock.sink_window_cycles;
    lane.elapsed_cycles += cycles;
    const std::uint32_t window = std::min(noise.read_window(cycles), longest_window_cycles);
    if (access < probe.recorded_accesses) lane.window_cycles.push_back(window);
    if (counted) ++counts[std::min<std::size_t>(window, histogram_bins - 1)];
  }
  for (std::uint64_t access = 0; access < probe.amortised_accesses; ++access) {
    lane.elapsed_cycles += noise.disturb(link.latency_cycles, link.jitter_cycles);
  }
  if (counted) lane.histogram = to_histogram<std::uint64_t>(counts);
}

/// Of one direction: that of the link, or what the accesses in flight come to (Little's law).
double bytes_per_ns(const Launch& launch, const LinkState& link, const StreamProbe& probe) {
  const int sms = probe.sms.empty() ? launch.die.info.sm_count : static_cast<int>(probe.sms.size());
  const int most = sms * resident_blocks(launch.model, probe.block_threads, 0);
  const double in_flight_bytes =
      1.0 * std::min(probe.blocks, most) * probe.block_threads * probe.ilp * probe.element_bytes;
  const double latency_ns = link.latency_cycles * 1e9 / launch.sm_clock_hz;
  return std::min(link.bytes_per_s * 1e-9, in_flight_bytes / latency_ns);
}

}  // namespace

Trace play_at_peer(const Launch& launch, const ChaseProbe& probe, Trace trace) {
  const LinkState& link = find_link(launch.peers, *probe.peer_uuid);
  Noise noise(launch.model, launch.seed);
  for (LaneTrace& lane : trace.lanes) chase_lane(launch, link, probe, noise, lane);
  return trace;
}

Trace play_at_peer(const Launch& launch, const StreamProbe& probe) {
  const LinkState& link = find_link(launch.peers, *probe.peer_uuid);
  // A copy moves half of its bytes in each direction, at the same time.
  const double directions = probe.kind == StreamKind::copy ? 2 : 1;
  const double moving_ns = stream_bytes(probe) / directions / bytes_per_ns(launch, link, probe);
  Noise noise(launch.model, launch.seed);
  Trace trace;
  for (int i = 0; i < probe.repeats; ++i) {
    trace.repeat_ns.push_back(launch.model.units.throughput.launch_ns +
                              moving_ns * (1 + repeat_spread * noise.bell()));
  }
  const double last_cycles = trace.repeat_ns.back() * launch.sm_clock_hz / 1e9;
  for (const int sm : probe.sms) {
    LaneTrace& lane = add_lane(trace, sm);
    lane.elapsed_cycles = static_cast<std::uint64_t>(std::llround(last_cycles));
  }
  return trace;
}

}  // namespace sonde::sim
