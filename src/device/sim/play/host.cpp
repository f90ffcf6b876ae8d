// The links to the host and to peers on a simulated GPU: copies take bytes / rate of the link,
// loads take its latency. A stream through a peer's memory depends on the link alone.
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"

#include <algorithm>
#include <cmath>

namespace sonde::sim {
namespace {

const HostModel& host_of(const Launch& launch) {
  return declared(launch.model.units.host, "link to the host");
}

/// Share of the declared rate that the link has with its faults: each lane carries an equal part,
/// and each generation twice as much as the one before.
double share_of_link(const Launch& launch) {
  const HostModel& host = host_of(launch);
  const PcieLink link = pcie_link(host, launch.faults);
  return static_cast<double>(*link.width) / host.pcie_width *
         std::exp2(*link.generation - host.pcie_generation);
}

Trace play_copies(const Launch& launch, const HostProbe& probe) {
  const HostModel& host = host_of(launch);
  check_data(launch);
  const double moved = static_cast<double>(probe.bytes) * (probe.kind == HostKind::both ? 2 : 1);
  const double whole_rate = probe.kind == HostKind::to_device     ? host.to_device_bytes_per_s
                            : probe.kind == HostKind::from_device ? host.from_device_bytes_per_s
                                                                  : host.both_bytes_per_s;
  const double rate = whole_rate * share_of_link(launch) * launch.faults.host_copies_factor;
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.buffer_offset_bytes = buffer_address(launch, probe.place, 2 * probe.bytes);
  for (int i = 0; i < probe.repeats; ++i) {
    const double spread = 1 + host.spread_fraction * std::abs(noise.bell());
    trace.repeat_ns.push_back((host.copy_ns + moved / rate * 1e9) * spread);
  }
  return trace;
}

Trace play_latency(const Launch& launch, const HostProbe& probe) {
  const HostModel& host = host_of(launch);
  const double cycles_of_ns = launch.sm_clock_hz * 1e-9;
  const auto cycles = static_cast<std::uint32_t>(std::lround(host.latency_ns * cycles_of_ns)) +
                      launch.die.sm(probe.sm).slow_cycles;
  Noise noise(launch.model, launch.seed);
  Trace trace;
  LaneTrace& lane = add_lane(trace, probe.sm, probe.accesses);
  for (std::uint64_t i = 0; i < probe.accesses; ++i) {
    lane.window_cycles.push_back(noise.time(lane, cycles, host.jitter_ns * cycles_of_ns));
  }
  return trace;
}

/// Rate in one direction: of the link, or less if too few accesses are in flight (Little's law).
double bytes_per_ns(const Launch& launch, const PeerModel& link, const StreamProbe& probe) {
  const int sms = probe.sms.empty() ? launch.die.info.sm_count : static_cast<int>(probe.sms.size());
  const int most = sms * resident_blocks(launch.model, probe.block_threads, 0);
  const double in_flight_bytes =
      1.0 * std::min(probe.blocks, most) * probe.block_threads * probe.ilp * probe.element_bytes;
  const double latency_ns = link.latency_cycles * 1e9 / launch.sm_clock_hz;
  return std::min(link.bytes_per_s * 1e-9, in_flight_bytes / latency_ns);
}

}  // namespace

Trace play(const Launch& launch, const HostProbe& probe) {
  return probe.kind == HostKind::latency ? play_latency(launch, probe) : play_copies(launch, probe);
}

Trace play_at_peer(const Launch& launch, const StreamProbe& probe) {
  const PeerModel& link = find_link(launch.peers, *probe.peer_uuid);
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
