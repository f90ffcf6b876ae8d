// Turns lists of offsets into probes, and their traces into latencies. Only this file splits chases
// that are longer than a launch can record.
#include "jobs/chase/pointer_chase.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"
#include "base/units.hpp"
#include "device/device_error.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sonde {
namespace {

// Shortest useful record: it holds the page-stride chases of a TLB level, and all lines of the
// small caches of early GPUs.
constexpr std::uint64_t least_record = 1024;
// An entry of a list that lies in shared memory next to the record.
constexpr std::uint64_t list_entry_bytes = 4;

ChaseProbe prepare_probe(const ChaseSetup& setup, std::vector<ChaseLane> lanes) {
  ChaseProbe probe;
  probe.place = setup.place;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  probe.co_runners = setup.co_runners;
  for (ChaseLane& lane : lanes) {
    require(!lane.offsets_bytes.empty(), "a chase needs at least one offset");
  }
  probe.buffer_bytes = setup.buffer_bytes;
  if (setup.buffer_bytes == 0) {
    for (const ChaseLane& lane : lanes) {
      const auto last = std::max_element(lane.offsets_bytes.begin(), lane.offsets_bytes.end());
      const std::uint64_t unit_bytes = access_bytes(lane.path);
      probe.buffer_bytes =
          std::max(probe.buffer_bytes, *last / unit_bytes * unit_bytes + unit_bytes);
    }
  }
  probe.lanes = std::move(lanes);
  return probe;
}

/// Lists of this length are warmed up with many loads in flight. That disturbs the order of few
/// lines compared with what a cache holds. Even a list with 32 bytes between its accesses is twice
/// as large as any first-level cache (256 KiB on Hopper).
constexpr std::size_t long_list = 16384;

WarmUp warm_up_of(const ChasePlan& plan) {
  return plan.offsets.size() < long_list ? plan.warm_up : WarmUp::overlapped;
}

ChaseLane lane_of(const ChaseSetup& setup, const ChasePlan& plan) {
  return {.sm = setup.sm, .offsets_bytes = plan.offsets, .path = setup.path};
}

/// A probe of one lane without its timed accesses.
ChaseProbe prepare_probe(const ChaseSetup& setup, const ChasePlan& plan) {
  ChaseProbe probe = prepare_probe(setup, {lane_of(setup, plan)});
  probe.preparation = plan.preparation;
  probe.warmup_accesses = plan.warmup_passes * plan.offsets.size();
  probe.warm_up = warm_up_of(plan);
  return probe;
}

/// Uses the carve-out that the run sets.
ChaseSetup set_up_chase_as_set(JobRun& run, LoadPath path, std::uint64_t carveout_bytes) {
  const std::vector<std::uint64_t>& there = run.info().shared_carveouts_bytes;
  if (std::ranges::find(there, carveout_bytes) == there.end()) {
    throw NoAnswer(Status::not_present,
                   fmt::format("this GPU has no carve-out of {} bytes (it has: {})", carveout_bytes,
                               there.empty() ? "one that is fixed"
                                             : fmt::format("{}", fmt::join(there, ", "))));
  }
  if (const auto setup = set_up_chase_with_carveout(run, path, carveout_bytes)) return *setup;
  throw NoAnswer(
      Status::not_resolvable,
      fmt::format("{} bytes of shared memory are too few to record a chase in", carveout_bytes));
}

/// The longest list in shared memory that leaves half of a pass for the record. Lists of code
/// always lie there; lists of data do if they access a sector more often than it has words.
std::uint64_t longest_listed(const ChaseSetup& setup) {
  return setup.recordable_accesses * record_bytes / (list_entry_bytes + record_bytes / 2);
}

/// Lists of code always lie in shared memory.
bool is_always_listed(LoadPath path) { return path == LoadPath::instruction; }

/// What a list leaves of the record. If it leaves less than half a pass: everything, so that the
/// device refuses the chase, which would take too many launches.
std::uint64_t left_by_list(const ChaseSetup& setup, std::uint64_t length) {
  const std::uint64_t room = setup.recordable_accesses;
  return length <= longest_listed(setup) ? room - length * list_entry_bytes / record_bytes : room;
}

std::uint64_t recordable_at_once(const ChaseSetup& setup, const ChasePlan& plan) {
  return is_always_listed(setup.path) ? left_by_list(setup, plan.offsets.size())
                                      : setup.recordable_accesses;
}

using LaneCycles = std::vector<std::vector<double>>;

/// Records all lanes in the same launches.
/// @param spec the probe without its counts of accesses; it stays intact after a ProbeTooLargeError
LaneCycles record_together(JobRun& run, const ChaseSetup& setup, const std::string& label,
                           const LaneChases& chases, ProbeSpec& spec) {
  auto& probe = std::get<ChaseProbe>(spec);
  const std::uint64_t length = probe.lanes.front().offsets_bytes.size();
  LaneCycles cycles(probe.lanes.size());
  for (std::vector<double>& lane : cycles) lane.reserve(chases.recorded_accesses);
  for (std::uint64_t done = 0; done < chases.recorded_accesses; done += probe.timed_accesses) {
    probe.warmup_accesses =
        chases.warmup_accesses + (chases.resume == Resume::behind_all ? done : done % length);
    probe.timed_accesses = std::min(chases.most_at_once, chases.recorded_accesses - done);
    probe.recorded_accesses = probe.timed_accesses;
    Trace asked;
    const Trace& trace = chases.evidence == Evidence::kept_whole ? run.run(label, spec)
                                                                 : asked = run.ask(label, spec);
    for (std::size_t lane = 0; lane < cycles.size(); ++lane) {
      std::ranges::copy(latencies_of(trace.lanes.at(lane), setup.overhead_cycles),
                        std::back_inserter(cycles[lane]));
    }
  }
  return cycles;
}

/// Lanes that read the same lines have lists that no chain in memory can hold; they lie in shared
/// memory. If that leaves too little for the records, each launch records less. If shared memory
/// cannot hold the lists at all, half of the lanes are chased at a time.
LaneCycles record_as_fits(JobRun& run, const ChaseSetup& setup, const std::string& label,
                          LaneChases chases, ProbeSpec spec) {
  try {
    return record_together(run, setup, label, chases, spec);
  } catch (const ProbeTooLargeError&) {
    auto& probe = std::get<ChaseProbe>(spec);
    const std::uint64_t length = probe.lanes.front().offsets_bytes.size();
    const std::uint64_t left = left_by_list(setup, length) / 2 * 2;  // pairs stay together
    const bool are_fewer =
        left > 0 && left < std::min(chases.most_at_once, chases.recorded_accesses);
    if (!are_fewer && probe.lanes.size() == 1) throw;
    if (are_fewer) {
      chases.most_at_once = left;
      return record_as_fits(run, setup, label, std::move(chases), std::move(spec));
    }
    const auto middle = probe.lanes.begin() + static_cast<std::ptrdiff_t>(probe.lanes.size() / 2);
    ChaseProbe second = probe;
    second.lanes.assign(std::make_move_iterator(middle),
                        std::make_move_iterator(probe.lanes.end()));
    probe.lanes.erase(middle, probe.lanes.end());
    LaneCycles cycles = record_as_fits(run, setup, label, chases, std::move(spec));
    for (auto& lane : record_as_fits(run, setup, label, chases, std::move(second)))
      cycles.push_back(std::move(lane));
    return cycles;
  }
}

/// Whether the counts fit into the shared memory where the record of this chase would lie.
bool has_room_for_counts(const ChaseSetup& setup, const ChasePlan& plan) {
  return recordable_at_once(setup, plan) * record_bytes >= histogram_bins * sizeof(std::uint32_t);
}

}  // namespace

std::uint64_t access_bytes(LoadPath path) {
  constexpr std::uint64_t word_bytes = 8;
  return path == LoadPath::instruction ? code_block_bytes : word_bytes;
}

std::uint64_t entry_bytes(LoadPath path) {
  return path == LoadPath::instruction ? code_entry_bytes : access_bytes(path);
}

std::optional<ChaseSetup> set_up_chase_with_carveout(JobRun& run, LoadPath path,
                                                     std::uint64_t shared_carveout_bytes) {
  const std::uint64_t recordable = run.device().recordable_accesses(shared_carveout_bytes);
  if (recordable < least_record) return std::nullopt;
  return ChaseSetup{.path = path,
                    .overhead_cycles = window_overhead_cycles(run),
                    .shared_carveout_bytes = shared_carveout_bytes,
                    .recordable_accesses = recordable};
}

ChaseSetup set_up_chase(JobRun& run, LoadPath path, RecordSpace space) {
  const auto set_bytes = run.number_setting(options::carveout_bytes.name);
  if (set_bytes && space == RecordSpace::with_largest_l1) {
    return set_up_chase_as_set(run, path, *set_bytes);
  }
  std::vector<std::uint64_t> carveouts = run.info().shared_carveouts_bytes;
  if (space == RecordSpace::longest) std::reverse(carveouts.begin(), carveouts.end());
  for (std::uint64_t carveout : carveouts) {
    if (auto setup = set_up_chase_with_carveout(run, path, carveout)) return *setup;
  }
  const DeviceInfo& gpu = run.info();
  const std::uint64_t recordable = run.device().recordable_accesses(
      gpu.shared_bytes_per_block + gpu.reserved_shared_bytes_per_block);
  require(recordable > 0, "a block has no shared memory to record latencies in");
  return {.path = path,
          .overhead_cycles = window_overhead_cycles(run),
          .shared_carveout_bytes = std::nullopt,
          .recordable_accesses = recordable};
}

ChaseSetup at_draw(ChaseSetup setup, const Draw& draw) {
  setup.sm = draw.sm;
  setup.place = draw.place;
  return setup;
}

std::uint64_t longest_list(const ChaseSetup& setup) {
  return setup.path == LoadPath::instruction ? longest_listed(setup)
                                             : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t recordable_with_list(const ChaseSetup& setup, std::uint64_t length) {
  const std::uint64_t left = left_by_list(setup, length);
  const bool may_be_chain = !is_always_listed(setup.path) && left <= setup.recordable_accesses / 2;
  return may_be_chain ? setup.recordable_accesses : left;
}

std::uint64_t most_code_bytes(const ChaseSetup& setup) {
  std::uint64_t bytes = 512_KiB;
  while (bytes / code_block_bytes > longest_listed(setup)) bytes /= 2;
  return bytes;
}

std::uint64_t usable_memory_bytes(const DeviceInfo& gpu) {
  const std::uint64_t left_bytes = std::min<std::uint64_t>(gpu.memory_bytes / 10, 6_GiB);
  return (gpu.memory_bytes - left_bytes) / large_page_bytes * large_page_bytes;
}

std::uint64_t longest_recorded_list(const ChaseSetup& setup, std::uint64_t passes) {
  return setup.recordable_accesses * record_bytes / (passes * record_bytes + list_entry_bytes);
}

std::vector<std::vector<double>> record_lanes(JobRun& run, const ChaseSetup& setup,
                                              const std::string& label, LaneChases chases) {
  // Moved, not copied: the lists are long.
  ChaseProbe probe = prepare_probe(setup, std::exchange(chases.lanes, {}));
  probe.preparation = chases.preparation;
  probe.warm_up = chases.warm_up;
  return record_as_fits(run, setup, label, std::move(chases), std::move(probe));
}

ChasePlan steady_plan(const ChaseSetup& setup, std::uint64_t span_bytes, std::uint64_t step_bytes,
                      std::uint64_t seed, std::uint64_t most_recorded) {
  ChasePlan plan{.offsets = shuffled_order(span_bytes, step_bytes, seed), .warmup_passes = 2};
  plan.recorded = std::min({plan.offsets.size(), setup.recordable_accesses, most_recorded});
  return plan;
}

ChasePlan overflowing_plan(const ChaseSetup& setup, std::uint64_t span_bytes,
                           std::uint64_t step_bytes, std::uint64_t seed,
                           std::uint64_t most_recorded) {
  ChasePlan plan = steady_plan(setup, span_bytes, step_bytes, seed, most_recorded);
  plan.warmup_passes = 1;
  plan.warm_up = WarmUp::overlapped;
  return plan;
}

ChaseLatencies measure_chase(JobRun& run, const ChaseSetup& setup, const std::string& label,
                             const ChasePlan& plan) {
  const std::uint64_t length = plan.offsets.size();
  require(plan.skipped < length && plan.skipped + plan.recorded <= length,
          "a chase cannot record beyond its end");
  const std::uint64_t recorded = plan.recorded > 0 ? plan.recorded : length - plan.skipped;
  const bool passes_run_on = plan.preparation == Preparation::as_is && recorded == length;
  const std::uint64_t at_once = recordable_at_once(setup, plan);
  const std::uint64_t passes_at_once =
      passes_run_on ? std::max<std::uint64_t>(1, at_once / length) : 1;
  LaneChases chases{.lanes = {lane_of(setup, plan)},
                    .warmup_accesses = plan.warmup_passes * length + plan.skipped,
                    .most_at_once = at_once,
                    .preparation = plan.preparation,
                    .warm_up = warm_up_of(plan),
                    .evidence = plan.evidence};
  ChaseLatencies latencies{recorded, {}};
  latencies.cycles.reserve(recorded * plan.passes);
  for (std::uint64_t pass = 0; pass < plan.passes; pass += passes_at_once) {
    chases.recorded_accesses = recorded * std::min(passes_at_once, plan.passes - pass);
    const std::vector<double> cycles = std::move(record_lanes(run, setup, label, chases).front());
    latencies.cycles.insert(latencies.cycles.end(), cycles.begin(), cycles.end());
  }
  return latencies;
}

std::uint64_t count_between(JobRun& run, const ChaseSetup& setup, const std::string& label,
                            const ChasePlan& plan, double low_cycles, double high_cycles) {
  if (!has_room_for_counts(setup, plan)) {
    const ChaseLatencies seen = measure_chase(run, setup, label, plan);
    return static_cast<std::uint64_t>(std::ranges::count_if(
        seen.cycles, [&](double cycles) { return cycles > low_cycles && cycles <= high_cycles; }));
  }
  ChaseProbe probe = prepare_probe(setup, plan);
  probe.timed_accesses = plan.passes * plan.offsets.size();
  std::uint64_t count = 0;
  for (const WindowCount& bin : run.run(label, probe).lanes.at(0).histogram) {
    const double cycles = bin.window_cycles - setup.overhead_cycles;
    if (cycles > low_cycles && cycles <= high_cycles) count += bin.accesses;
  }
  return count;
}

std::uint64_t address_of_buffer(JobRun& run, const ChaseSetup& setup) {
  require(setup.buffer_bytes > 0, "each list has a new buffer, so there is no single address");
  ChaseProbe probe = prepare_probe(setup, ChasePlan{.offsets = {0}});
  probe.timed_accesses = 1;
  probe.recorded_accesses = 1;
  return run.run("address of the buffer", probe).buffer_offset_bytes;
}

double measure_amortised_cycles(JobRun& run, const ChaseSetup& setup, const std::string& label,
                                const ChasePlan& plan, std::uint64_t accesses) {
  ChaseProbe probe = prepare_probe(setup, plan);
  probe.amortised_accesses = accesses;
  const LaneTrace& lane = run.run(label, probe).lanes.at(0);
  return static_cast<double>(lane.elapsed_cycles) / static_cast<double>(lane.accesses);
}

}  // namespace sonde
