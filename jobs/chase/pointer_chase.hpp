// Runs lists of offsets as often as wanted and gives back the latency of each access, whatever the
// device can record at once: long chases are cut into several launches here, and nowhere else. What
// comes back goes to the inference of structure (analysis/structure).
#pragma once

#include "analysis/structure/latency/chase_latencies.hpp"
#include "jobs/chase/access_order.hpp"
#include "jobs/run/job_run.hpp"
#include "jobs/run/replicates.hpp"

#include <optional>
#include <string>

namespace sonde {

/// What the shared part of the L1 array is to be: as small as a useful record allows, so that the
/// L1 is at its largest, or as large as can be for the longest record (the L1 is not of interest).
enum class RecordSpace { with_largest_l1, longest };

/// What all chases of one measurement have in common.
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

/// What one access covers: a word, or a block of code.
std::uint64_t access_bytes(LoadPath path);

/// How far apart accesses can begin: a word, or less than a block of code, which is then executed
/// from there on.
std::uint64_t entry_bytes(LoadPath path);

/// Chooses the carve-out and takes the window's overhead from the clock job. Where the L1 is of
/// interest, the option carveout_bytes of the job goes before the choice.
/// @throws SettingError if this device has no such carve-out, or it holds too short a record
ChaseSetup set_up_chase(JobRun& run, LoadPath path, RecordSpace space);

/// The same for one given carve-out; nullopt if it holds too short a record.
std::optional<ChaseSetup> set_up_chase_with_carveout(JobRun& run, LoadPath path,
                                                     std::uint64_t shared_carveout_bytes);

/// The same setup on the SM and at the place of a replicate.
ChaseSetup at_draw(ChaseSetup setup, const Draw& draw);

/// Most accesses that a launch surely records if its list of `length` offsets stands in shared
/// memory, too: what the list leaves of the record. Lists of data that leave less than half are
/// taken for chains in memory.
std::uint64_t recordable_with_list(const ChaseSetup& setup, std::uint64_t length);

/// The most accesses that one launch records in so many passes if they stand in shared memory, too,
/// each as an entry of a list.
std::uint64_t longest_recorded_list(const ChaseSetup& setup, std::uint64_t passes = 1);

/// The longest list that can be chased if it reads no sector so often: of data any.
std::uint64_t longest_list(const ChaseSetup& setup);

/// How much code is chased at most: four times the largest instruction cache before the L2 known
/// (Volta: 128 KB, Jia 2018), or half of that, and so on, if a list cannot name every block of it.
std::uint64_t most_code_bytes(const ChaseSetup& setup);

/// What the file keeps of a chase: its trace, or, of the many chases of a search, as JobRun::ask.
enum class Evidence { kept_whole, of_a_search };

/// What a launch behind the first one warms up with beyond the warm-up of that: all that was
/// recorded before; or, where a steady chase does the same in every pass, only what lies in the
/// list before the place where the last launch ended.
enum class Resume { behind_all, within_pass };

/// Chases on several SMs at once, recorded from the end of the warm-up on.
struct LaneChases {
  std::vector<ChaseLane> lanes = {};  // with lists of one length, each through its own path
  std::uint64_t warmup_accesses = 0;
  std::uint64_t recorded_accesses = 0;  // of each lane, over as many launches as they take
  std::uint64_t most_at_once = 0;       // of one launch; at most what the device can record
  Preparation preparation = Preparation::as_is;  // flushed: before every launch
  WarmUp warm_up = WarmUp::dependent;
  Resume resume = Resume::behind_all;
  Evidence evidence = Evidence::kept_whole;
};

/// Latencies of the recorded accesses of each lane, launch after launch: as many as shared memory
/// has room for.
/// @throws ProbeTooLargeError if a list is too long for any; DeviceError, DeviceLostError
std::vector<std::vector<double>> record_lanes(JobRun& run, const ChaseSetup& setup,
                                              const std::string& label, LaneChases chases);

struct ChasePlan {
  Offsets offsets = {};
  std::uint64_t warmup_passes = 1;     // over the whole list
  WarmUp warm_up = WarmUp::dependent;  // long lists are overlapped in any case
  std::uint64_t skipped = 0;           // positions before the first recorded one, accessed untimed
  std::uint64_t recorded = 0;          // positions; 0: all that follow
  std::uint64_t passes = 1;
  Preparation preparation = Preparation::as_is;  // flushed: before every pass
  Evidence evidence = Evidence::kept_whole;
};

/// A chase in random order over a span, twice to warm up, recorded as far as one launch can.
ChasePlan steady_plan(const ChaseSetup& setup, std::uint64_t span_bytes, std::uint64_t step_bytes,
                      std::uint64_t seed, std::uint64_t most_recorded);

/// The same over several times what a cache holds, to meet what lies behind it, once to warm up: in
/// the first pass as in any other all other lines are accessed between two accesses to a line, and
/// push it out whatever the policy; what lies behind holds all of them from then on. Under random
/// replacement fewer lines stay than in later passes, as each of those others misses. Overlapped:
/// an empty cache answers as late as one full of other lines.
ChasePlan overflowing_plan(const ChaseSetup& setup, std::uint64_t span_bytes,
                           std::uint64_t step_bytes, std::uint64_t seed,
                           std::uint64_t most_recorded);

/// Latencies of the recorded positions in every pass. Warm-up passes over long lists are
/// overlapped.
/// @throws DeviceError, DeviceLostError
ChaseLatencies measure_chase(JobRun& run, const ChaseSetup& setup, const std::string& label,
                             const ChasePlan& plan);

/// Address of the buffer of all chases of this setup, as the GPU sees it; 0: its path loads no
/// global memory.
/// @pre setup.buffer_bytes is given, so that they share one
std::uint64_t address_of_buffer(JobRun& run, const ChaseSetup& setup);

/// Accesses above one bound and up to another among all of `plan.passes` passes over a list of any
/// length, counted on the device where the counts have room next to the L1: which ones they are is
/// not known.
std::uint64_t count_between(JobRun& run, const ChaseSetup& setup, const std::string& label,
                            const ChasePlan& plan, double low_cycles, double high_cycles);

/// Mean cycles per access of a plain loop over the list, nothing recorded, after the warm-up.
/// Nothing is subtracted: the loop adds what a loop costs on this device, a few cycles at most.
double measure_amortised_cycles(JobRun& run, const ChaseSetup& setup, const std::string& label,
                                const ChasePlan& plan, std::uint64_t accesses);

}  // namespace sonde
