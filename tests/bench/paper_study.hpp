// The experiments of Dai et al. (DAC 2016) on one program: which machines it runs on, what comes of
// each, and the figures of the paper from that. Needs a device that can be another machine
// (MachineChange).
#pragma once

#include "analysis/bypass_model.hpp"
#include "jobs/bypass/programs.hpp"
#include "trace/trace.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// What a program did on one machine, over all SMs.
struct StudyOutcome {
  double cycles = 0;  // of the longest SM
  double accesses = 0;
  double instructions = 0;
  double l1_hits = 0;  // lines of loads
  double failures = 0;
  double l2_requests = 0;
  double dram_requests = 0;  // of those, that missed the L2
  double periods = 0;        // of the dynamic bypass, of all SMs
  double mean_cached = 0;    // what it chose, mean over its periods; 0: it is not there

  /// Accesses of an SM per cycle, the paper's MIPC times the number of SMs.
  double accesses_per_cycle() const { return accesses / cycles; }
  double per_kilo_instruction(double count) const { return 1000 * count / instructions; }
};

/// @throws Error if the trace has no counts
StudyOutcome read_outcome(const Trace& trace);

/// The outcomes of one program.
struct ProgramStudy {
  PaperProgram program;
  StudyOutcome base;    // 16 KB by XOR, GTO, everybody uses the L1
  StudyOutcome modulo;  // figure 2
  StudyOutcome no_l1;
  StudyOutcome l1_8mb;
  std::vector<StudyOutcome> cached;  // [L], 0..N: figures 3 and 4; the last one is the base
  StudyOutcome mdb_local;            // figure 6: dynamic bypass of each SM, ...
  StudyOutcome mdb_global;           // ... and of one for all
  StudyOutcome swl_best;             // the best number of warps at a time
  int swl_warps = 0;
  StudyOutcome cbwt_best;  // the same with protected lines
  int cbwt_warps = 0;
  std::vector<StudyOutcome> capacity;   // figure 8a: 32 KB, 64 KB; then each with mdb_global
  std::vector<StudyOutcome> scheduler;  // figure 8b: round robin, two-level; then with mdb_global
};

/// Plays a probe of the study; the text says what it is.
using PlayStudy = std::function<Trace(const std::string& label, const ProgramProbe& probe)>;

/// @param sm_accesses of each play, by each SM
/// @throws DeviceError where the device cannot be another machine
ProgramStudy study_program(const PaperProgram& program, std::uint64_t sm_accesses,
                           const PlayStudy& play);

/// Bits that the dynamic bypass of one SM stores (section 6): shadow tags of 1 valid, 2 LRU and 32
/// tag bits, a counter of hits of 10 bits for each calculator, and one of failures of 12.
int generator_bits(int calculators, int sampled_sets, int ways);

/// How much faster than the base of the same program.
double speedup_of(const ProgramStudy& study, const StudyOutcome& outcome);

/// Figure 4: failures(L) / failures(N) over L / N of the programs that teach.
struct FailureFit {
  double cubic_r2 = 0;            // of the paper's (L/N)^3
  std::optional<PowerLaw> power;  // the best one
};
FailureFit fit_failures(std::span<const ProgramStudy> studies);

/// Those of high contention, or of low.
std::vector<ProgramStudy> select_studies(std::span<const ProgramStudy> studies,
                                         bool high_contention);

/// Geometric mean over the programs; 1 if there are none.
double geometric_mean(std::span<const ProgramStudy> studies,
                      const std::function<double(const ProgramStudy&)>& value);

/// A statement of the paper, and what the studies say to it.
struct PaperClaim {
  std::string place;
  std::string text;
  std::string here;
  bool holds = false;
};

/// Statements of sections 4 to 7. A number holds within 5 %. None unless all sixteen programs were
/// studied.
std::vector<PaperClaim> judge_claims(std::span<const ProgramStudy> studies);

/// All figures as tables of text, one after the other: 2, 3, 4, 6, 7 a to d, 8 a and b; then the
/// claims.
std::string print_figures(std::span<const ProgramStudy> studies);

}  // namespace sonde
