// The figures of Dai et al. (DAC 2016) from the outcomes of the study. Pure.
#pragma once

#include "analysis/bypass_model.hpp"
#include "jobs/bypass/paper_study.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// How much faster than the base of the same program.
double speedup_of(const ProgramStudy& study, const StudyOutcome& outcome);

/// Figure 4: failures(L) / failures(N) over L / N of the programs that teach.
struct FailureFit {
  double cubic_r2 = 0;            // of the paper's (L/N)^3
  std::optional<PowerLaw> power;  // the best one
};
FailureFit fit_failures(std::span<const ProgramStudy> studies);

/// Geometric mean over the programs of high contention, or of low.
/// @param outcome of ProgramStudy
double mean_speedup(std::span<const ProgramStudy> studies, bool high_contention,
                    StudyOutcome ProgramStudy::*outcome);

/// All figures as tables of text, one after the other: 2, 3, 4, 6, 7 a to d, 8 a and b.
std::string print_figures(std::span<const ProgramStudy> studies);

}  // namespace sonde
