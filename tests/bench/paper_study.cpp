#include "bench/paper_study.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

double count_of(const LaneTrace& lane, ProgramCount count) {
  const std::uint64_t value = lane.counts.at(static_cast<std::size_t>(count));
  return value == not_counted ? 0 : static_cast<double>(value);
}

/// Plays one program on changed machines.
class Study {
 public:
  Study(const PaperProgram& program, std::uint64_t sm_accesses, const PlayStudy& play)
      : play_(play) {
    base_ = {.program = program.program,
             .resident_blocks = program.resident_blocks,
             .level = program.level,
             .sm_accesses = sm_accesses};
    base_.cached = bypass_units(base_);
  }

  const ProgramProbe& base() const { return base_; }
  int warps() const { return resident_warps(base_); }

  /// @param change what is other than at the base
  template <class Change>
  StudyOutcome run(const std::string& what, const Change& change) const {
    ProgramProbe probe = base_;
    change(probe);
    return read_outcome(play_(fmt::format("{}: {}", probe.program.name, what), probe));
  }

  /// The best number of warps at a time.
  template <class Change>
  std::pair<StudyOutcome, int> best_throttled(const std::string& what, const Change& change) const {
    std::pair<StudyOutcome, int> best;
    for (int warps : throttled_numbers()) {
      const StudyOutcome outcome =
          run(fmt::format("{}, {} warps at a time", what, warps), [&](ProgramProbe& probe) {
            probe.active_warps = warps;
            change(probe);
          });
      if (best.second == 0 || outcome.accesses_per_cycle() > best.first.accesses_per_cycle()) {
        best = {outcome, warps};
      }
    }
    return best;
  }

 private:
  /// One by one where each warp counts, then in steps of a third to a half.
  std::vector<int> throttled_numbers() const {
    std::vector<int> numbers;
    for (int number : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      if (number < warps()) numbers.push_back(number);
    }
    numbers.push_back(warps());
    return numbers;
  }

  const PlayStudy& play_;
  ProgramProbe base_;
};

void set_global(ProgramProbe& probe) { probe.machine.dynamic = DynamicBypass{.one_for_all = true}; }

}  // namespace

StudyOutcome read_outcome(const Trace& trace) {
  StudyOutcome outcome;
  for (const LaneTrace& lane : trace.lanes) {
    require(lane.counts.size() == program_count_total, "a lane of the study has no counts");
    outcome.cycles = std::max(outcome.cycles, static_cast<double>(lane.elapsed_cycles));
    outcome.accesses += static_cast<double>(lane.accesses);
    outcome.instructions += count_of(lane, ProgramCount::instructions);
    outcome.l1_hits += count_of(lane, ProgramCount::l1_hits);
    outcome.failures += count_of(lane, ProgramCount::reservation_failures);
    outcome.l2_requests += count_of(lane, ProgramCount::l2_requests);
    outcome.dram_requests += count_of(lane, ProgramCount::dram_requests);
    outcome.periods += count_of(lane, ProgramCount::periods);
    outcome.mean_cached += count_of(lane, ProgramCount::cached_in_periods);
  }
  require(outcome.cycles > 0 && outcome.instructions > 0, "a program of the study did nothing");
  outcome.mean_cached = outcome.periods > 0 ? outcome.mean_cached / outcome.periods : 0;
  return outcome;
}

ProgramStudy study_program(const PaperProgram& program, std::uint64_t sm_accesses,
                           const PlayStudy& play) {
  const Study study(program, sm_accesses, play);
  ProgramStudy result;
  result.program = program;
  // First what only a machine that can be changed plays: others refuse here, before long work.
  result.modulo =
      study.run("modulo index", [](auto& probe) { probe.machine.l1_index = L1Index::modulo; });
  result.base = study.run("base", [](auto&) {});
  result.no_l1 = study.run("no L1", [](auto& probe) { probe.machine.l1_bytes = 0; });
  result.l1_8mb = study.run("L1 of 8 MB", [](auto& probe) { probe.machine.l1_bytes = 8_MiB; });
  for (int cached = 0; cached < study.base().cached; ++cached) {
    result.cached.push_back(
        study.run(fmt::format("{} of {} use the L1", cached, study.base().cached),
                  [cached](auto& probe) { probe.cached = cached; }));
  }
  result.cached.push_back(result.base);
  result.mdb_local =
      study.run("MDB-local", [](auto& probe) { probe.machine.dynamic = DynamicBypass{}; });
  result.mdb_global = study.run("MDB-global", set_global);
  std::tie(result.swl_best, result.swl_warps) = study.best_throttled("SWL", [](auto&) {});
  std::tie(result.cbwt_best, result.cbwt_warps) =
      study.best_throttled("CBWT", [](auto& probe) { probe.machine.protecting_distance = true; });
  for (const bool global : {false, true}) {
    const char* with = global ? " with MDB-global" : "";
    for (const std::uint64_t kib : {32, 64}) {
      result.capacity.push_back(
          study.run(fmt::format("L1 of {} KB{}", kib, with), [&](auto& probe) {
            probe.machine.l1_bytes = kib * 1_KiB;
            if (global) set_global(probe);
          }));
    }
    for (const WarpScheduler scheduler : {WarpScheduler::round_robin, WarpScheduler::two_level}) {
      result.scheduler.push_back(
          study.run(fmt::format("{}{}", to_text(scheduler), with), [&](auto& probe) {
            probe.machine.scheduler = scheduler;
            if (global) set_global(probe);
          }));
    }
  }
  return result;
}

int generator_bits(int calculators, int sampled_sets, int ways) {
  constexpr int tag_bits = 1 + 2 + 32;
  constexpr int hit_counter_bits = 10;
  constexpr int failure_counter_bits = 12;
  return calculators * (sampled_sets * ways * tag_bits + hit_counter_bits) + failure_counter_bits;
}

}  // namespace sonde
