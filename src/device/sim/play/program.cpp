// Programs on a simulated GPU: builds the machine that the model declares and plays the program.
#include "base/gpu_facts.hpp"
#include "device/device_error.hpp"
#include "device/sim/play/noise.hpp"
#include "device/sim/play/play.hpp"
#include "device/sim/program/program_sm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sonde::sim {
namespace {

struct MachineModel {
  SmModel sm;
  std::optional<L1Model> l1;
  MemorySideModel memory;
};

/// The first cache of plain loads that an SM has to itself, and the cache that all SMs share.
struct PathCaches {
  const CacheModel* l1 = nullptr;
  const CacheModel* l2 = nullptr;
  double l1_hit_cycles = 0;
  double l2_hit_cycles = 0;
};

PathCaches find_caches(const Launch& launch) {
  const PathModel& through = launch.memory.path(LoadPath::all_levels);
  PathCaches caches;
  for (std::size_t use = 0; use < through.caches.size(); ++use) {
    const CacheModel& cache = launch.model.caches[through.caches[use]];
    if (cache.scope == Scope::device || cache.scope == Scope::partition) {
      caches.l2 = &cache;
      caches.l2_hit_cycles = through.hit[use].front();
    } else if (caches.l1 == nullptr) {
      caches.l1 = &cache;
      caches.l1_hit_cycles = through.hit[use].front();
    }
  }
  return caches;
}

/// The index of a changed L1: the line number modulo the sets or, with XOR, the index bits and
/// every group of as many tag bits above them (docs/decisions/0011).
DeclaredIndex changed_index(L1Index index, std::uint64_t line_bytes, std::uint32_t sets) {
  DeclaredIndex declared;
  declared.kind = DeclaredIndex::Kind::modulo;
  declared.granularity_bytes = line_bytes;
  if (index == L1Index::modulo || sets == 1) return declared;
  declared.kind =
      std::has_single_bit(sets) ? DeclaredIndex::Kind::xor_masks : DeclaredIndex::Kind::xor_modulo;
  const int line_shift = std::countr_zero(line_bytes);
  const int width = std::bit_width(sets - 1);
  declared.masks.resize(static_cast<std::size_t>(width));
  for (int bit = line_shift; bit < 64; ++bit) {
    declared.masks[static_cast<std::size_t>((bit - line_shift) % width)] |= std::uint64_t{1} << bit;
  }
  return declared;
}

std::optional<L1Model> describe_l1(const Launch& launch, const ProgramProbe& probe,
                                   const CacheModel* cache, std::uint64_t shared_bytes) {
  const MachineChange& change = probe.machine;
  if (cache == nullptr || (change.l1_bytes && *change.l1_bytes == 0)) return std::nullopt;
  const Geometry& geometry = cache->geometry_for(shared_bytes);
  L1Model l1{.sets = static_cast<std::uint32_t>(geometry.ways_per_set.size()),
             .ways = geometry.most_ways(),
             .set_of = {.index = SetIndex(geometry), .line_bytes = cache->line_bytes},
             .fetch_bytes = cache->fetch_bytes,
             .mshr_merges = launch.model.units.lsu.mshr_merges,
             .update_on_store = cache->write_policy.hit == StoreHit::update,
             .protects = change.protecting_distance};
  if (!change.l1_bytes && !change.l1_index) return l1;
  if (change.l1_bytes) {
    const std::uint64_t sets = *change.l1_bytes / (cache->line_bytes * l1.ways);
    l1.sets = static_cast<std::uint32_t>(std::max<std::uint64_t>(sets, 1));
  }
  const L1Index index = change.l1_index.value_or(L1Index::xor_bits);
  l1.set_of.index = SetIndex(changed_index(index, cache->line_bytes, l1.sets), l1.sets);
  return l1;
}

/// @param share of the GPU's L2 and DRAM that the played SMs have
MemorySideModel describe_memory(const Launch& launch, const PathCaches& caches, double share) {
  const UnitsModel& units = launch.model.units;
  const PathModel& through = launch.memory.path(LoadPath::all_levels);
  MemorySideModel memory;
  if (caches.l2 != nullptr) memory.line_bytes = caches.l2->line_bytes;
  if (caches.l1 != nullptr) memory.line_bytes = caches.l1->line_bytes;
  if (caches.l2 != nullptr) {
    const Geometry& geometry = caches.l2->geometries.front();
    memory.l2_ways = geometry.most_ways();
    const std::uint64_t set_bytes = memory.line_bytes * memory.l2_ways;
    memory.l2_sets = std::max<std::uint64_t>(caches.l2->size_bytes(geometry) / set_bytes, 1);
    memory.l2_fetch_bytes = caches.l2->fetch_bytes;
    memory.l2_cycles = caches.l2_hit_cycles;
  }
  memory.dram_cycles = through.dram.front();
  memory.request_cycles = units.lsu.request_cycles;
  memory.sm_bytes_per_cycle = units.throughput.sm_port_bytes_per_cycle;
  memory.return_bytes_per_cycle = units.lsu.return_bytes_per_cycle;
  double l2_bytes_per_cycle = units.throughput.l2_bytes_per_cycle;
  if (const auto& programs = units.programs) {
    memory.partitions = static_cast<std::uint32_t>(programs->l2_partitions);
    memory.l2_mshrs = programs->l2_mshrs;
    memory.l2_queue_entries = programs->l2_queue_entries;
    memory.banks = programs->dram_banks;
    memory.row_cycles = programs->bank_row_ns * launch.sm_clock_hz * 1e-9;
    l2_bytes_per_cycle = programs->l2_partition_bytes_per_cycle * memory.partitions;
  }
  const double dram_bytes_per_cycle = launch.die.info.theoretical_bytes_per_s() *
                                      launch.faults.bandwidth_factor / launch.sm_clock_hz;
  memory.partition_bytes_per_cycle = l2_bytes_per_cycle * share / memory.partitions;
  memory.channel_bytes_per_cycle = dram_bytes_per_cycle * share / memory.partitions;
  memory.row_bytes = units.dram.row_bytes;
  return memory;
}

MachineModel describe_machine(const Launch& launch, const ProgramProbe& probe,
                              std::uint64_t shared_bytes, double share) {
  const UnitsModel& units = launch.model.units;
  const PathCaches caches = find_caches(launch);
  return {.sm = {.schedulers = units.pipelines ? units.pipelines->schedulers : 1,
                 .issue_cycles = units.programs ? units.programs->issue_cycles : 1,
                 .l1_hit_cycles = caches.l1_hit_cycles,
                 .lsu = units.lsu},
          .l1 = describe_l1(launch, probe, caches.l1, shared_bytes),
          .memory = describe_memory(launch, caches, share)};
}

/// Gives out the first blocks, one to each SM in turn, until all SMs are full.
void give_first_blocks(std::vector<ProgramSm>& sms, int resident_blocks) {
  for (int block = 0; block < resident_blocks; ++block) {
    for (ProgramSm& sm : sms) sm.add_block();
  }
}

/// Steps all SMs in the order of time, so that requests reach the memory side in order. Each time
/// another SM goes first, so that none is favoured.
void play_together(std::vector<ProgramSm>& sms) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  for (const ProgramSm& sm : sms) times.push_back(sm.done() ? never : sm.time());
  std::size_t first = 0;
  for (double now = std::ranges::min(times); now < never;) {
    double next = never;
    for (std::size_t i = 0, at = first; i < sms.size(); ++i) {
      if (times[at] <= now) {
        sms[at].step();
        times[at] = sms[at].done() ? never : sms[at].time();
      }
      next = std::min(next, times[at]);
      if (++at == sms.size()) at = 0;
    }
    if (++first == sms.size()) first = 0;
    now = next;
  }
}

/// Plays the program on SMs 0 .. sm_count - 1 of the machine, which take its blocks and accesses as
/// they have room.
/// @param ranks SMs of the whole machine, a multiple of sm_count; SMs that are not played have the
/// blocks between
/// @param buffer_address where the program's arrays begin
std::vector<SmResult> play_machine(const MachineModel& model, const ProgramProbe& probe,
                                   int sm_count, std::uint64_t ranks,
                                   std::uint64_t buffer_address) {
  MemorySide memory(model.memory, sm_count);
  std::vector<L1Tags> l1s;
  if (model.l1) l1s.assign(static_cast<std::size_t>(sm_count), L1Tags(*model.l1));
  std::vector<BypassGenerator> generators;  // one for each SM, or one for all
  if (const auto& dynamic = probe.machine.dynamic; dynamic && model.l1) {
    const L1Model& l1 = *model.l1;
    generators.assign(dynamic->one_for_all ? 1 : static_cast<std::size_t>(sm_count),
                      {*dynamic, bypass_units(probe), l1.sets, l1.ways, l1.set_of});
  }
  const auto bypass_of = [&](std::size_t at) -> SmBypass {
    BypassGenerator* own = at < generators.size() ? &generators[at] : nullptr;
    return {.decider = own == nullptr && !generators.empty() ? &generators.front() : own,
            .observer = own};
  };
  std::vector<SmResult> results(static_cast<std::size_t>(sm_count));
  const auto shares = share_accesses(probe.program, probe.sm_accesses, 1);
  std::vector<std::uint64_t> arrays = array_offsets_bytes(probe.program);
  for (std::uint64_t& array : arrays) array += buffer_address;
  double begin = 0;
  for (std::size_t kernel = 0; kernel < probe.program.kernels.size(); ++kernel) {
    KernelWork work({.program = probe.program,
                     .kernel = probe.program.kernels[kernel],
                     .array_addresses = arrays,
                     .line_bytes = model.memory.line_bytes},
                    ranks / results.size(), shares[kernel] * results.size());
    std::vector<ProgramSm> sms;
    sms.reserve(results.size());
    for (std::size_t at = 0; at < results.size(); ++at) {
      if (model.l1) l1s[at].clear();
      sms.emplace_back(model.sm, probe, static_cast<int>(at), model.l1 ? &l1s[at] : nullptr, memory,
                       work, begin, bypass_of(at), results[at]);
    }
    give_first_blocks(sms, probe.resident_blocks);
    play_together(sms);
    double end = begin;
    for (std::size_t at = 0; at < results.size(); ++at) {
      results[at].cycles += sms[at].end() - begin;
      end = std::max(end, sms[at].end());
    }
    begin = end;
  }
  for (std::size_t at = 0; at < results.size(); ++at) {
    const auto set = [&](ProgramCount what, std::uint64_t count) {
      results[at].counts[static_cast<std::size_t>(what)] = static_cast<double>(count);
    };
    const MemoryCounts& requests = memory.counts(static_cast<int>(at));
    set(ProgramCount::l2_requests, requests.l2_requests);
    set(ProgramCount::dram_requests, requests.dram_requests);
    if (const BypassGenerator* decider = bypass_of(at).decider) {
      set(ProgramCount::periods, decider->periods());
      set(ProgramCount::cached_in_periods, decider->cached_in_periods());
    }
  }
  return results;
}

void check_machine(const Launch& launch, const ProgramProbe& probe) {
  if (!launch.model.units.programs && probe.machine != MachineChange{}) {
    throw DeviceError(
        "this GPU cannot be another machine (scheduler, index, size of the L1, dynamic bypass) "
        "play the program on it as it is");
  }
  const auto warps = static_cast<std::size_t>(resident_warps(probe));
  const std::size_t fitting = std::min<std::size_t>(
      static_cast<std::size_t>(launch.die.info.max_threads_per_sm) / warp_threads, most_sm_warps);
  if (warps > fitting) {
    throw DeviceError(std::to_string(warps) + " warps do not fit on an SM (at most " +
                      std::to_string(fitting) + "), ask for fewer");
  }
  const PathCaches caches = find_caches(launch);
  for (const CacheModel* cache : {caches.l1, caches.l2}) {
    const bool can_be_played =
        cache == nullptr ||
        (std::has_single_bit(cache->line_bytes) && cache->line_bytes >= smallest_sector_bytes &&
         cache->line_bytes <= 32 * smallest_sector_bytes);
    if (can_be_played) continue;
    throw DeviceError("programs are played on caches with lines of 32, 64, ... 1024 B (" +
                      cache->name + " has others) give the model such lines");
  }
}

std::uint64_t whole(double count) { return static_cast<std::uint64_t>(std::llround(count)); }

/// Counts of a whole SM stand in the lane of its first warp.
std::vector<std::uint64_t> counts_of(const SmResult& sm, const WarpResult& warp, bool first,
                                     bool windows) {
  std::vector<std::uint64_t> counts(program_count_total, not_counted);
  if (first) std::ranges::transform(sm.counts, counts.begin(), whole);
  counts[static_cast<std::size_t>(ProgramCount::issue_cycles)] =
      windows ? whole(warp.issue_cycles) : not_counted;
  return counts;
}

void add_lanes(const Launch& launch, const ProgramProbe& probe, int sm, const SmResult& played,
               Noise& noise, Trace& trace) {
  const std::uint32_t slow = launch.die.sm(sm).slow_cycles;
  const std::uint32_t sink = launch.model.clock.sink_window_cycles;
  const double jitter = launch.model.units.dram.jitter_cycles;
  for (std::size_t warp = 0; warp < played.warps.size(); ++warp) {
    const WarpResult& result = played.warps[warp];
    LaneTrace& lane = add_lane(trace, sm);
    lane.warp = static_cast<int>(warp);
    lane.accesses = result.accesses;
    // A slow SM takes longer for every access that waits for the one before.
    const double late = slow * static_cast<double>(result.accesses);
    lane.elapsed_cycles = static_cast<std::uint64_t>(
        std::llround(played.cycles * (1 + repeat_spread * noise.bell()) + late));
    for (double window : result.windows) {
      const auto cycles = static_cast<std::uint32_t>(std::lround(window)) + slow;
      lane.window_cycles.push_back(
          std::min(noise.read_window(noise.disturb(cycles, jitter) + sink), longest_window_cycles));
    }
    if (launch.model.units.programs || probe.windows) {
      lane.counts = counts_of(played, result, warp == 0 && launch.model.units.programs.has_value(),
                              probe.windows);
    }
  }
}

}  // namespace

Trace play(const Launch& launch, const ProgramProbe& probe) {
  check_data(launch);
  check_machine(launch, probe);
  const DeviceInfo& info = launch.die.info;
  const std::vector<int> sms = probe.sms.empty() ? first_sms(info.sm_count) : probe.sms;
  Trace trace;
  trace.buffer_offset_bytes =
      buffer_address(launch, probe.place, array_offsets_bytes(probe.program).back());
  const std::uint64_t record =
      probe.windows ? probe.sm_accesses * record_bytes + record_overhead_bytes : 0;
  trace.shared_carveout_bytes = choose_carveout(info, record, probe.shared_carveout_bytes);
  // A GPU without the section `programs` plays one SM, which stands for all others.
  const bool whole = launch.model.units.programs.has_value();
  const int played_sms = whole ? static_cast<int>(sms.size()) : 1;
  const double share = whole ? 1 : 1 / static_cast<double>(sms.size());
  const std::vector<SmResult> played =
      play_machine(describe_machine(launch, probe, trace.shared_carveout_bytes, share), probe,
                   played_sms, sms.size(), trace.buffer_offset_bytes);
  Noise noise(launch.model, launch.seed);
  for (std::size_t rank = 0; rank < sms.size(); ++rank) {
    add_lanes(launch, probe, sms[rank], played[whole ? rank : 0], noise, trace);
  }
  return trace;
}

}  // namespace sonde::sim
