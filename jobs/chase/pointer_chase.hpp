// Runs lists of offsets and returns the latency of each access. Splits chases that are longer than
// a launch can record; no other file does. analysis/structure infers structure from the latencies.
#pragma once

#include "analysis/structure/latency/chase_latencies.hpp"
#include "jobs/chase/access_order.hpp"
#include "jobs/run/job_run.hpp"
#include "jobs/run/replicates.hpp"

#include <optional>
#include <string>

namespace sonde {

/// Carve-out of a chase: the smallest with a useful record, so that the L1 is largest; or the
/// largest, for the longest record, if the L1 is not of interest.
enum class RecordSpace { with_largest_l1, longest };

/// Settings that all chases of a measurement use.
struct ChaseSetup {
  LoadPath path = LoadPath::all_levels;
  int sm = 0;
  Place place = 0;
  std::uint64_t buffer_bytes = 0;  // 0: as much as each list needs
  double overhead_cycles = 0;      // of a timed window without its load
  std::optional<std::uint64_t> shared_carveout_bytes;
  std::uint64_t recordable_accesses = 0;
  std::vector<CoRunner> co_runners = {};
};

/// Bytes that one access covers: a word, or a block of code.
std::uint64_t access_bytes(LoadPath path);

/// Smallest distance between the starts of two accesses: a word, or, for code, less than a block
/// (execution then begins inside the block).
std::uint64_t entry_bytes(LoadPath path);

/// Chooses the carve-out, and takes the overhead of a window from the clock job. If the L1 is of
/// interest, the job's option carveout_bytes overrides the choice.
/// @throws NoAnswer if this device has no such carve-out, or it is too small for a record
ChaseSetup set_up_chase(JobRun& run, LoadPath path, RecordSpace space);

/// The same for a given carve-out; nullopt if it is too small for a record.
std::optional<ChaseSetup> set_up_chase_with_carveout(JobRun& run, LoadPath path,
                                                     std::uint64_t shared_carveout_bytes);

/// The same setup on the SM and the place of a replicate.
ChaseSetup at_draw(ChaseSetup setup, const Draw& draw);

/// Number of accesses that a launch can surely record if its list of `length` offsets lies in
/// shared memory, too. Lists of data that would leave less than half of the record are assumed to
/// be chains in memory.
std::uint64_t recordable_with_list(const ChaseSetup& setup, std::uint64_t length);

/// Number of accesses that one launch can record in this many passes if their list lies in shared
/// memory, too.
std::uint64_t longest_recorded_list(const ChaseSetup& setup, std::uint64_t passes = 1);

/// The longest list that can be chased if it reads no sector too often; for data unlimited.
std::uint64_t longest_list(const ChaseSetup& setup);

/// Most code that is chased: four times the largest instruction cache before the L2 that is known
/// (Volta: 128 KB, Jia 2018), halved until a list can name every block of it.
std::uint64_t most_code_bytes(const ChaseSetup& setup);

/// How much memory chases may take, a multiple of the large page. Leaves a tenth of the memory, or
/// 6 GiB on large GPUs, to the driver and to the flushing of caches.
std::uint64_t usable_memory_bytes(const DeviceInfo& gpu);

/// What the file keeps of a chase: its whole trace, or what JobRun::ask keeps of searches.
enum class Evidence { kept_whole, of_a_search };

/// How far launches after the first one repeat accesses as additional warm-up: everything recorded
/// so far; or, for a steady chase where all passes are equal, only the part of the list before the
/// place where the last launch ended.
enum class Resume { behind_all, within_pass };

/// Chases on several SMs at once, recorded from the end of the warm-up.
struct LaneChases {
  std::vector<ChaseLane> lanes = {};  // lists of equal length, each on its own path
  std::uint64_t warmup_accesses = 0;
  std::uint64_t recorded_accesses = 0;           // of each lane, in as many launches as needed
  std::uint64_t most_at_once = 0;                // per launch; at most what the device can record
  Preparation preparation = Preparation::as_is;  // flushed: before every launch
  WarmUp warm_up = WarmUp::dependent;
  Resume resume = Resume::behind_all;
  Evidence evidence = Evidence::kept_whole;
};

/// Latencies of the recorded accesses of each lane. Lanes are chased together if shared memory has
/// room for their records, else in groups.
/// @throws ProbeTooLargeError if a list is too long; DeviceError, DeviceLostError
std::vector<std::vector<double>> record_lanes(JobRun& run, const ChaseSetup& setup,
                                              const std::string& label, LaneChases chases);

/// One list, how often it is chased, and what is recorded.
struct ChasePlan {
  Offsets offsets = {};
  std::uint64_t warmup_passes = 1;     // over the whole list
  WarmUp warm_up = WarmUp::dependent;  // long lists are always overlapped
  std::uint64_t skipped = 0;           // untimed positions before the first recorded one
  std::uint64_t recorded = 0;          // positions; 0: all after the skipped ones
  std::uint64_t passes = 1;
  Preparation preparation = Preparation::as_is;  // flushed: before every pass
  Evidence evidence = Evidence::kept_whole;
};

/// A chase in random order with two warm-up passes, recorded as far as one launch can.
ChasePlan steady_plan(const ChaseSetup& setup, std::uint64_t span_bytes, std::uint64_t step_bytes,
                      std::uint64_t seed, std::uint64_t most_recorded);

/// Like steady_plan, for a span of several times the size of a cache, to show the level behind it.
/// One overlapped warm-up pass suffices: between two accesses to a line all other lines are
/// accessed, which evicts it under every policy, and an empty cache misses like a cache full of
/// other lines. Under random replacement fewer lines survive than in later passes.
ChasePlan overflowing_plan(const ChaseSetup& setup, std::uint64_t span_bytes,
                           std::uint64_t step_bytes, std::uint64_t seed,
                           std::uint64_t most_recorded);

/// Latencies of the recorded positions in every pass. Warm-up passes over long lists are
/// overlapped.
/// @throws DeviceError, DeviceLostError
ChaseLatencies measure_chase(JobRun& run, const ChaseSetup& setup, const std::string& label,
                             const ChasePlan& plan);

/// Address of the buffer of this setup, as the GPU sees it; 0 if the path does not load global
/// memory.
/// @pre setup.buffer_bytes > 0, so that all chases share the buffer
std::uint64_t address_of_buffer(JobRun& run, const ChaseSetup& setup);

/// Number of latencies above one bound and up to another in all `plan.passes` passes. The device
/// counts them if the counts fit into shared memory next to the L1; then the list may have any
/// length, but it is not known which accesses they are.
std::uint64_t count_between(JobRun& run, const ChaseSetup& setup, const std::string& label,
                            const ChasePlan& plan, double low_cycles, double high_cycles);

/// Mean cycles per access of a plain loop over the list after the warm-up (amortised latency).
/// Includes the overhead of the loop, a few cycles at most.
double measure_amortised_cycles(JobRun& run, const ChaseSetup& setup, const std::string& label,
                                const ChasePlan& plan, std::uint64_t accesses);

}  // namespace sonde
