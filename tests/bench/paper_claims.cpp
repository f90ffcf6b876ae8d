// What Dai 2016 says of its figures, asked of the studies.
#include "bench/paper_study.hpp"

#include "analysis/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace sonde {
namespace {

constexpr std::size_t papers_programs = 16;
constexpr double near_fraction = 0.05;
// Chosen: the paper says that nothing is degraded, and that E correlates well with performance.
constexpr double least_performance = 0.98;
constexpr double least_correlation = 0.8;

using Studies = std::span<const ProgramStudy>;
using Names = std::vector<std::string_view>;
using Outcome = StudyOutcome ProgramStudy::*;

PaperClaim number(const char* place, std::string_view what, double paper, double here) {
  return {place, fmt::format("{} {}", what, paper), fmt::format("{:.3f}", here),
          std::abs(here / paper - 1) <= near_fraction};
}

/// Of the programs of those names, or of all.
PaperClaim every(const char* place, std::string text, Studies studies, const Names& names,
                 const std::function<bool(const ProgramStudy&)>& is_true) {
  Names others;
  for (const ProgramStudy& study : studies) {
    const std::string_view name = study.program.program.name;
    if (!names.empty() && std::ranges::count(names, name) == 0) continue;
    if (!is_true(study)) others.push_back(name);
  }
  return {place, std::move(text),
          others.empty() ? "all" : fmt::format("not {}", fmt::join(others, ", ")), others.empty()};
}

/// Means of base, SWL-best, CBWT-best and MDB-global per kilo-instruction.
std::array<double, 4> mean_counts(Studies studies, double StudyOutcome::*count) {
  std::array<double, 4> means{};
  constexpr std::array<Outcome, 4> schemes{&ProgramStudy::base, &ProgramStudy::swl_best,
                                           &ProgramStudy::cbwt_best, &ProgramStudy::mdb_global};
  for (std::size_t at = 0; at < schemes.size(); ++at) {
    for (const ProgramStudy& study : studies) {
      const StudyOutcome& outcome = study.*schemes[at];
      means[at] += outcome.per_kilo_instruction(outcome.*count);
    }
    means[at] /= static_cast<double>(studies.size());
  }
  return means;
}

/// Of hits - e x failures with the performance over L, mean over the programs that teach.
double correlation(Studies studies, double e) {
  double sum = 0;
  double programs = 0;
  for (const ProgramStudy& study : studies) {
    if (!study.program.taught) continue;
    std::vector<double> adjusted;
    std::vector<double> performance;
    for (const StudyOutcome& outcome : study.cached) {
      adjusted.push_back(outcome.l1_hits - e * outcome.failures);
      performance.push_back(outcome.accesses_per_cycle());
    }
    const LinearFit fit = fit_line(adjusted, performance);
    sum += std::copysign(std::sqrt(std::max(fit.r2, 0.0)), fit.slope);
    ++programs;
  }
  return sum / programs;
}

double mean_of(Studies studies, Outcome outcome) {
  return geometric_mean(
      studies, [outcome](const ProgramStudy& study) { return speedup_of(study, study.*outcome); });
}

/// MDB-global over nothing where the machine has another L1 or scheduler.
double mean_gain(Studies studies, std::vector<StudyOutcome> ProgramStudy::*outcomes,
                 std::size_t at) {
  return geometric_mean(studies, [&](const ProgramStudy& study) {
    const std::vector<StudyOutcome>& all = study.*outcomes;
    return all[at + 2].accesses_per_cycle() / all[at].accesses_per_cycle();
  });
}

std::vector<PaperClaim> judge_sweeps(Studies studies) {
  const std::vector<StudyOutcome>& kms =
      std::ranges::find_if(studies, [](const ProgramStudy& study) {
        return study.program.program.name == "kms";
      })->cached;
  const auto best = std::ranges::max_element(kms, {}, &StudyOutcome::accesses_per_cycle);
  const auto bypassing = kms.end() - 1 - best;
  const double least =
      std::min({correlation(studies, 0.3), correlation(studies, 0.5), correlation(studies, 0.7)});
  return {{"Fig. 3", "kms: 5 of 8 that bypass are best", fmt::format("{} of 8", bypassing),
           bypassing == 5},
          {"Fig. 3", "kms: 4 of 8 that bypass have more hits and failures than 5 of 8",
           fmt::format("{:.2f} and {:.2f} times as many", kms[4].l1_hits / kms[3].l1_hits,
                       kms[4].failures / kms[3].failures),
           kms[4].l1_hits > kms[3].l1_hits && kms[4].failures > kms[3].failures},
          number("Fig. 4", "R2 of the cubic law", 0.88, fit_failures(studies).cubic_r2),
          {"section 5.3", "hits - E x failures follow performance with E of 0.3 to 0.7",
           fmt::format("correlation {:.2f}", least), least >= least_correlation}};
}

std::vector<PaperClaim> judge_schemes(Studies studies, Studies high) {
  const double global = mean_of(high, &ProgramStudy::mdb_global);
  const double swl = mean_of(high, &ProgramStudy::swl_best);
  const double cbwt = mean_of(high, &ProgramStudy::cbwt_best);
  const std::array<double, 4> failures = mean_counts(high, &StudyOutcome::failures);
  const std::array<double, 4> dram = mean_counts(high, &StudyOutcome::dram_requests);
  const auto gains = [](const ProgramStudy& study) {
    const double least = study.program.high_contention ? 1 : least_performance;
    return std::min(speedup_of(study, study.mdb_local), speedup_of(study, study.mdb_global)) >
           least;
  };
  const auto is_better_limited = [](const ProgramStudy& study) {
    return study.swl_best.l1_hits > study.base.l1_hits &&
           study.swl_best.failures < study.base.failures;
  };
  const auto adds_l2_requests = [](const ProgramStudy& study) {
    return study.mdb_global.l2_requests > study.base.l2_requests;
  };
  return {
      number("Fig. 6", "MDB-local", 1.75, mean_of(high, &ProgramStudy::mdb_local)),
      number("Fig. 6", "MDB-global", 1.69, global),
      number("Fig. 6", "SWL-best", 1.39, swl),
      number("Fig. 6", "CBWT-best", 1.51, cbwt),
      number("Fig. 6", "MDB-global over SWL-best", 1.216, global / swl),
      number("Fig. 6", "MDB-global over CBWT-best", 1.119, global / cbwt),
      every("Fig. 6", "all of high contention gain", high, {}, gains),
      every("Fig. 6", "none of low contention loses", select_studies(studies, false), {}, gains),
      every("Fig. 7", "SWL-best: more hits and fewer failures for hst, kms, atx, mvt, bic", high,
            {"hst", "kms", "atx", "mvt", "bic"}, is_better_limited),
      {"Fig. 7", "MDB-global has the fewest failures",
       fmt::format("{:.0f}", fmt::join(failures, ", ")),
       std::ranges::min(failures) == failures.back()},
      every("Fig. 7", "MDB-global: more L2 requests for ptf, hst, s2k", high, {"ptf", "hst", "s2k"},
            adds_l2_requests),
      every("Fig. 7", "MDB-global: fewer L2 requests for kms, gmv", high, {"kms", "gmv"},
            std::not_fn(adds_l2_requests)),
      {"section 7.1", "all schemes lighten the traffic to DRAM",
       fmt::format("{:.0f}", fmt::join(dram, ", ")), std::ranges::max(dram) == dram.front()}};
}

std::vector<PaperClaim> judge_sensitivity(Studies high) {
  const double at_16 = mean_of(high, &ProgramStudy::mdb_global);
  const double at_32 = mean_gain(high, &ProgramStudy::capacity, 0);
  const double at_64 = mean_gain(high, &ProgramStudy::capacity, 1);
  const double round_robin = mean_gain(high, &ProgramStudy::scheduler, 0);
  const double two_level = mean_gain(high, &ProgramStudy::scheduler, 1);
  const double without = geometric_mean(
      high, [](const ProgramStudy& study) { return speedup_of(study, study.capacity[0]); });
  return {{"Fig. 8", "MDB-global gains with 16, 32 and 64 KB, less with more",
           fmt::format("{:.2f}, {:.2f}, {:.2f}", at_16, at_32, at_64),
           at_16 > at_32 && at_32 > at_64 && at_64 > 1},
          number("Fig. 8", "MDB-global at 16 KB over 32 KB without it:", 1, at_16 / without),
          {"Fig. 8", "MDB-global gains with GTO, round robin, two-level",
           fmt::format("{:.2f}, {:.2f}, {:.2f}", at_16, round_robin, two_level),
           std::min({at_16, round_robin, two_level}) > 1}};
}

}  // namespace

std::vector<PaperClaim> judge_claims(Studies studies) {
  if (studies.size() < papers_programs) return {};
  const std::vector<ProgramStudy> high = select_studies(studies, true);
  std::vector<PaperClaim> claims{
      number("Fig. 2", "XOR over modulo, mean of all", 2,
             1 / mean_of(studies, &ProgramStudy::modulo)),
      every("Fig. 2", "8 MB gains more than 50 % on high contention, less on low", studies, {},
            [](const ProgramStudy& study) {
              return (speedup_of(study, study.l1_8mb) > 1.5) == study.program.high_contention;
            }),
      every("Fig. 2", "faster without an L1: sc, s2k, kms", studies, {"sc", "s2k", "kms"},
            [](const ProgramStudy& study) { return speedup_of(study, study.no_l1) > 1; }),
      every("Fig. 2", "slower without an L1: ptf, hst, sr2, 2df, 2dv", studies,
            {"ptf", "hst", "sr2", "2df", "2dv"},
            [](const ProgramStudy& study) { return speedup_of(study, study.no_l1) < 1; })};
  for (const auto& judged :
       {judge_sweeps(studies), judge_schemes(studies, high), judge_sensitivity(high)}) {
    claims.insert(claims.end(), judged.begin(), judged.end());
  }
  return claims;
}

}  // namespace sonde
