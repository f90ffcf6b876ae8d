// Streams on a simulated GPU: hit rates come from a scaled copy of each cache, the throughput from
// a queue (cores/stream_queue).
#include "base/gpu_facts.hpp"
#include "device/sim/cores/stream_queue.hpp"
#include "device/sim/memory/cache_array.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"
#include "device/sim/play/stream_homes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sonde::sim {
namespace {

// If all SMs are alike, this many are played, with their share of what all SMs use.
constexpr std::size_t most_played_sms = 16;
// Sets of the scaled copy of a cache, passes over it before hits are counted, and passes counted.
constexpr std::uint32_t scaled_sets = 64;
constexpr int settling_passes = 4;
constexpr int counted_passes = 2;
// If the footprint is so many times the cache, no policy here hits more than a few percent.
constexpr double hopeless_ratio = 8;

/// Hit rate of a cyclic chase over `footprint_bytes` in a cache of this kind.
double steady_hit_rate(const CacheModel& cache, const Geometry& geometry, double footprint_bytes,
                       std::uint64_t seed) {
  const double ratio = footprint_bytes / static_cast<double>(cache.size_bytes(geometry));
  if (ratio > hopeless_ratio) return 0;
  const auto mean_ways =
      static_cast<std::uint32_t>(geometry.lines() / geometry.ways_per_set.size());
  Geometry scaled = geometry;
  scaled.ways_per_set.assign(std::min<std::size_t>(scaled_sets, geometry.ways_per_set.size()),
                             mean_ways);
  scaled.index = DeclaredIndex{};
  scaled.index.kind = DeclaredIndex::Kind::modulo;
  scaled.index.granularity_bytes = cache.line_bytes;
  CacheArray array(cache, scaled);
  array.clear(seed);
  const auto lines = static_cast<std::uint64_t>(
      std::max(1.0, std::floor(ratio * static_cast<double>(scaled.lines()))));
  std::uint64_t hits = 0;
  for (int pass = 0; pass < settling_passes + counted_passes; ++pass) {
    for (std::uint64_t line = 0; line < lines; ++line) {
      const bool hit = array.access(line * cache.line_bytes);
      hits += pass >= settling_passes && hit ? 1 : 0;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(lines * counted_passes);
}

/// What is the same for all waves of a stream.
struct StreamPlan {
  std::vector<int> sms;
  std::vector<int> blocks;  // for each of sms
  int resident = 1;
  int warps_per_block = 1;        // or tiles that the copy engine has under way
  double block_bytes = 0;         // that one block reads, or writes, in all passes
  std::vector<double> far_share;  // by SM of the device; empty without groups
  double l2_bytes_per_cycle = 0;
  StreamTraffic traffic;
};

/// How often the L2 holds a line, on average: once in each partition that has readers, if
/// partitions keep copies.
double l2_copies(const Launch& launch, const StreamPlan& plan) {
  const Partitions& partitions = launch.model.partitions;
  if (partitions.count == 1 || !partitions.replicate) return 1;
  if (!plan.far_share.empty()) {
    const double far = std::accumulate(plan.far_share.begin(), plan.far_share.end(), 0.0);
    return 1 + std::min(1.0, 2 * far / static_cast<double>(plan.far_share.size()));
  }
  std::vector<double> readers(static_cast<std::size_t>(partitions.count));
  for (int sm : plan.sms) {
    readers[static_cast<std::size_t>(launch.die.sm(sm).partition)] += 1;
  }
  const double busiest = *std::ranges::max_element(readers) / static_cast<double>(plan.sms.size());
  return 1 + busiest * (partitions.count - 1);
}

double mean_offset_cycles(const Launch& launch, std::size_t cache, const std::vector<int>& sms) {
  double sum = 0;
  for (int sm : sms) {
    const auto at = static_cast<std::size_t>(sm);
    sum += static_cast<double>(launch.die.cache_offset_cycles[cache][at]) +
           launch.die.sm(sm).slow_cycles;
  }
  return sum / static_cast<double>(sms.size());
}

/// Rate of the L2. Additions to one line are made one after the other.
double l2_rate(const Launch& launch, const StreamProbe& probe, const CacheModel& cache) {
  const ThroughputModel& rates = launch.model.units.throughput;
  if (probe.kind != StreamKind::add || rates.line_atomic_cycles == 0) {
    return rates.l2_bytes_per_cycle;
  }
  const double line_bytes = static_cast<double>(cache.line_bytes);
  const double lines = std::max(1.0, static_cast<double>(probe.footprint_bytes) / line_bytes);
  return std::min(rates.l2_bytes_per_cycle, lines * line_bytes / rates.line_atomic_cycles);
}

void set_caches(const Launch& launch, const StreamProbe& probe, StreamPlan& plan) {
  const PathModel& path = launch.memory.path(probe.path);
  const double footprint_bytes =
      probe.groups.empty() ? static_cast<double>(probe.footprint_bytes) : grouped_bytes(probe);
  StreamTraffic& traffic = plan.traffic;
  double offset_cycles = 0;
  for (std::size_t use = 0; use < path.caches.size(); ++use) {
    const CacheModel& cache = launch.model.caches[path.caches[use]];
    const Geometry& geometry = cache.geometries.front();
    if (cache.scope == Scope::device || cache.scope == Scope::partition) {
      offset_cycles = mean_offset_cycles(launch, path.caches[use], plan.sms);
      // A neighbour holds a part of the cache, which acts like a larger footprint.
      const double room = launch.faults.neighbour ? 1 - launch.faults.neighbour->share : 1;
      const double held =
          footprint_bytes * l2_copies(launch, plan) / launch.model.partitions.count / room;
      traffic.l2_hit_rate = steady_hit_rate(cache, geometry, held, launch.seed);
      traffic.l2_latency_cycles = path.hit[use].front() + offset_cycles;
      if (!path.far_hit.empty()) {
        traffic.l2_far_latency_cycles = path.far_hit.front() + offset_cycles;
      }
      traffic.write_through =
          probe.kind != StreamKind::add && cache.write_policy.miss == StoreMiss::no_allocate;
      plan.l2_bytes_per_cycle = l2_rate(launch, probe, cache);
    } else {
      // A launch begins with an empty L1, so its first pass misses.
      const double sharers =
          probe.order == StreamOrder::same ? 1 : static_cast<double>(plan.sms.size());
      const double share = footprint_bytes / sharers / (traffic.writes ? 2 : 1);
      const bool keeps = probe.hint != StreamHint::no_allocate && !traffic.past_l1;
      traffic.l1_hit_rate = !keeps ? 0
                                   : steady_hit_rate(cache, geometry, share, launch.seed) *
                                         (probe.passes - 1) / probe.passes;
      traffic.l1_latency_cycles = path.hit[use].front();
    }
  }
  const double far = path.dram_far.empty() ? path.dram.front() : path.dram_far.front();
  traffic.dram_latency_cycles = (path.dram.front() + far) / 2.0 + offset_cycles;
}

/// Sets the size of a request of a warp or to the copy engine, and the blocks on an SM at once.
void set_requests(const Launch& launch, const StreamProbe& probe, StreamPlan& plan) {
  if (probe.engine == StreamEngine::threads) {
    plan.resident = resident_blocks(launch.model, probe.block_threads, 0);
    plan.warps_per_block = warps_of(probe.block_threads);
    plan.traffic.ilp = probe.ilp;
    plan.traffic.element_bytes = warp_threads * static_cast<double>(probe.element_bytes);
    return;
  }
  if (!launch.model.units.throughput.bulk_copies) {
    throw DeviceError(
        "bulk copies are not possible (this GPU lacks the engine). Use streams of threads");
  }
  const std::uint64_t tile_bytes = stream_tile_bytes(probe);
  plan.resident = resident_blocks(launch.model, probe.block_threads, bulk_stages * tile_bytes);
  plan.warps_per_block = bulk_stages;
  plan.traffic.ilp = 1;
  plan.traffic.element_bytes = static_cast<double>(tile_bytes);
  plan.traffic.past_l1 = true;
}

StreamPlan make_plan(const Launch& launch, const StreamProbe& probe) {
  StreamPlan plan;
  set_requests(launch, probe, plan);
  plan.sms = probe.sms;
  int blocks = static_cast<int>(probe.sms.size());
  if (probe.sms.empty()) {
    blocks = probe.blocks;
    plan.sms = first_sms(std::min(blocks, launch.die.info.sm_count));
  }
  const int count = static_cast<int>(plan.sms.size());
  for (int i = 0; i < count; ++i) plan.blocks.push_back(blocks / count + (i < blocks % count));
  plan.block_bytes = stream_bytes(probe) / blocks / (probe.kind == StreamKind::copy ? 2 : 1);
  const bool merges =
      probe.order == StreamOrder::same && launch.model.units.throughput.merges_reads_of_gpc;
  plan.traffic.merged_warps = merges && probe.kind == StreamKind::read ? plan.warps_per_block : 0;
  plan.traffic.each_sm =
      !probe.sms.empty() || !probe.groups.empty() || plan.traffic.merged_warps > 0;
  plan.traffic.timed_reads = probe.timed_tiles;
  plan.traffic.reads = probe.kind == StreamKind::read || probe.kind == StreamKind::copy;
  plan.traffic.writes = probe.kind != StreamKind::read;
  plan.l2_bytes_per_cycle = launch.model.units.throughput.l2_bytes_per_cycle;
  plan.far_share = far_shares(launch, probe);
  set_caches(launch, probe, plan);
  return plan;
}

/// Rates of the whole GPU, or for a part of its SMs with that part of GPC ports, L2 and DRAM.
StreamRates make_rates(const Launch& launch, const StreamPlan& plan, double part) {
  const ThroughputModel& rates = launch.model.units.throughput;
  const DramModel& dram = launch.model.units.dram;
  const double cycles_per_ns = launch.sm_clock_hz / 1e9;
  const double slow = 1 / launch.faults.bandwidth_factor;
  const double channels = dram.channels * part;
  return {
      .issue_cycles = rates.issue_cycles,
      .l1 = rates.l1_bytes_per_cycle,
      .sm_port = rates.sm_port_bytes_per_cycle,
      .tpc_port = launch.die.tpc_port_bytes_per_cycle,
      .gpc_port = rates.gpc_port_bytes_per_cycle * (part < 1 ? launch.model.chip.gpcs * part : 1),
      .l2 = plan.l2_bytes_per_cycle * part,
      .crossing = launch.model.partitions.crossing_bytes_per_cycle,
      .dram = launch.die.info.theoretical_bytes_per_s() / launch.sm_clock_hz * part / slow,
      .row_bytes = static_cast<double>(dram.row_bytes) * channels,
      .row_overhead_cycles = dram.row_overhead_ns * cycles_per_ns * slow,
      .write_batch_bytes = static_cast<double>(dram.write_batch_bytes) * channels,
      .turnaround_cycles = dram.turnaround_ns * cycles_per_ns * slow};
}

/// True if some SMs can stand for all: no SM needs a lane of its own, all have the same work, and
/// no port is slower than the others.
bool are_alike(const Launch& launch, const StreamPlan& plan, const std::vector<int>& blocks) {
  const std::vector<double>& ports = launch.die.tpc_port_bytes_per_cycle;
  return !plan.traffic.each_sm &&
         std::ranges::count(blocks, blocks.front()) == std::ssize(blocks) &&
         std::ranges::count(ports, ports.front()) == std::ssize(ports);
}

/// Reads find copies in the partition of the SM, as near as lines at home there; stores and
/// additions go to the home.
double far_share_of(const Launch& launch, const StreamPlan& plan, int sm) {
  const bool has_copies = launch.model.partitions.replicate && !plan.traffic.writes;
  if (plan.far_share.empty() || has_copies) return 0;
  return plan.far_share[static_cast<std::size_t>(sm)];
}

/// Plays `waves` equal waves. In a wave each SM runs `blocks` of its blocks at once; a block that
/// ends makes room for the next. `of` has an entry for each SM that runs a block.
StreamCycles play_wave(const Launch& launch, const StreamPlan& plan, const std::vector<int>& blocks,
                       int waves) {
  StreamTraffic traffic = plan.traffic;
  const bool some_for_all = are_alike(launch, plan, blocks) && blocks.size() > most_played_sms;
  const std::size_t played = some_for_all ? most_played_sms : blocks.size();
  const double part = static_cast<double>(played) / static_cast<double>(blocks.size());
  for (std::size_t i = 0; i < played; ++i) {
    if (blocks[i] == 0) continue;
    const DieSm place = some_for_all
                            ? DieSm{.tpc = static_cast<int>(i) / launch.model.chip.sms_per_tpc}
                            : launch.die.sm(plan.sms[i]);
    traffic.sms.push_back({.warps = blocks[i] * plan.warps_per_block,
                           .tpc = static_cast<std::size_t>(place.tpc),
                           .gpc = static_cast<std::size_t>(place.gpc),
                           .partition = static_cast<std::size_t>(place.partition),
                           .far_share = far_share_of(launch, plan, plan.sms[i])});
  }
  const double batch_bytes = traffic.ilp * traffic.element_bytes;
  const double rounds = waves * plan.block_bytes / (plan.warps_per_block * batch_bytes);
  return run_stream_queue(make_rates(launch, plan, part), traffic, rounds, launch.seed);
}

/// The result of a stream, for each of plan.sms.
struct Played {
  std::vector<double> cycles;         // that each SM works
  std::vector<StreamWindow> windows;  // of timed reads in the first wave, the fullest
};

Played play_waves(const Launch& launch, const StreamPlan& plan) {
  Played result{std::vector<double>(plan.sms.size(), 0), {}};
  std::vector<int> left = plan.blocks;
  while (std::accumulate(left.begin(), left.end(), 0) > 0) {
    const int waves = std::max(1, *std::ranges::min_element(left) / plan.resident);
    std::vector<int> wave;
    for (int& blocks : left) {
      wave.push_back(std::min(blocks, plan.resident));
      blocks -= waves * wave.back();
    }
    const StreamCycles played = play_wave(launch, plan, wave, waves);
    // How many far lines one SM meets in the few rounds played is chance: all SMs get `all`.
    const bool together = played.of.empty() || !plan.far_share.empty();
    auto of = played.of.begin();
    for (std::size_t i = 0; i < wave.size(); ++i) {
      if (wave[i] > 0) result.cycles[i] += together ? played.all : *of++;
    }
    // SMs without a block come last, so the numbers of SMs in `windows` are right.
    if (result.windows.empty()) result.windows = played.windows;
  }
  return result;
}

/// One lane for each SM that timed a read.
std::vector<LaneTrace> time_lanes(const Launch& launch, const StreamPlan& plan,
                                  const std::vector<StreamWindow>& windows, Noise& noise) {
  std::map<std::size_t, LaneTrace> lanes;
  for (const StreamWindow& window : windows) {
    LaneTrace& lane = lanes[window.sm];
    lane.sm = plan.sms[window.sm];
    const auto cycles = static_cast<std::uint32_t>(
        std::lround(window.cycles + launch.model.clock.sink_window_cycles));
    const std::uint32_t spent = noise.disturb(cycles, launch.model.noise.clock_jitter_cycles);
    lane.window_cycles.push_back(std::min(noise.read_window(spent), longest_window_cycles));
    lane.elapsed_cycles += lane.window_cycles.back();
    ++lane.accesses;
  }
  std::vector<LaneTrace> list;
  for (auto& [sm, lane] : lanes) list.push_back(std::move(lane));
  return list;
}

}  // namespace

Trace play(const Launch& launch, const StreamProbe& probe) {
  if (probe.kind != StreamKind::read) check_data(launch);
  if (probe.peer_uuid) return play_at_peer(launch, probe);
  const StreamPlan plan = make_plan(launch, probe);
  const auto [cycles, windows] = play_waves(launch, plan);
  const double longest = *std::max_element(cycles.begin(), cycles.end());
  Noise noise(launch.model, launch.seed);
  Trace trace;
  trace.buffer_offset_bytes = buffer_address(launch, probe.place, probe.footprint_bytes);
  double last_factor = 1;
  for (int i = 0; i < probe.repeats; ++i) {
    last_factor = 1 + repeat_spread * noise.bell();
    trace.repeat_ns.push_back(launch.model.units.throughput.launch_ns +
                              longest * last_factor * 1e9 / launch.sm_clock_hz);
  }
  if (probe.timed_tiles > 0) {
    trace.lanes = time_lanes(launch, plan, windows, noise);
    return trace;
  }
  for (std::size_t i = 0; i < probe.sms.size(); ++i) {
    LaneTrace& lane = add_lane(trace, plan.sms[i]);
    lane.elapsed_cycles = static_cast<std::uint64_t>(
        std::llround(cycles[i] * last_factor * (1 - repeat_spread * noise.random().unit())));
  }
  return trace;
}

}  // namespace sonde::sim
