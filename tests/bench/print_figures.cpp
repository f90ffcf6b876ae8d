#include "bench/paper_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

/// A column of a table: its head, and what stands in it for a program.
struct Column {
  std::string head;
  std::function<double(const ProgramStudy&)> value;
};

std::string print_table(std::string_view title, std::span<const ProgramStudy> studies,
                        const std::vector<Column>& columns, int digits) {
  std::string text = fmt::format("{}\n  program", title);
  for (const Column& column : columns) text += fmt::format(" {:>12}", column.head);
  text += '\n';
  for (const ProgramStudy& study : studies) {
    text += fmt::format("  {:7}", study.program.program.name);
    for (const Column& column : columns) {
      text += fmt::format(" {:12.{}f}", column.value(study), digits);
    }
    text += study.program.high_contention ? "\n" : "  low\n";
  }
  return text + '\n';
}

Column speedup(std::string head, StudyOutcome ProgramStudy::*outcome) {
  return {std::move(head),
          [outcome](const ProgramStudy& study) { return speedup_of(study, study.*outcome); }};
}

Column speedup(std::string head, std::vector<StudyOutcome> ProgramStudy::*outcomes,
               std::size_t at) {
  return {std::move(head), [outcomes, at](const ProgramStudy& study) {
            return speedup_of(study, (study.*outcomes).at(at));
          }};
}

/// The four schemes that figure 7 compares.
template <class Value>
std::vector<Column> schemes(const Value& value) {
  std::vector<Column> columns;
  for (const auto& [head, outcome] :
       {std::pair{"base", &ProgramStudy::base}, std::pair{"SWL-best", &ProgramStudy::swl_best},
        std::pair{"CBWT-best", &ProgramStudy::cbwt_best},
        std::pair{"MDB-global", &ProgramStudy::mdb_global}}) {
    columns.push_back(
        {head, [value, outcome](const ProgramStudy& study) { return value(study.*outcome); }});
  }
  return columns;
}

std::vector<Column> per_kilo_instruction(double StudyOutcome::*count) {
  return schemes([count](const StudyOutcome& outcome) {
    return outcome.per_kilo_instruction(outcome.*count);
  });
}

std::string print_sweeps(std::span<const ProgramStudy> studies) {
  std::string text =
      "Figures 3 and 4: L of N use the L1: speed-up, hits and failures per kilo-instruction\n";
  for (const ProgramStudy& study : studies) {
    text += fmt::format("  {} by {}\n", study.program.program.name, to_text(study.program.level));
    for (std::size_t cached = 0; cached < study.cached.size(); ++cached) {
      const StudyOutcome& outcome = study.cached[cached];
      text += fmt::format("    {:2} of {:2}  {:6.3f}  {:9.1f}  {:9.1f}\n", cached,
                          study.cached.size() - 1, speedup_of(study, outcome),
                          outcome.per_kilo_instruction(outcome.l1_hits),
                          outcome.per_kilo_instruction(outcome.failures));
    }
  }
  const FailureFit fit = fit_failures(studies);
  text += fmt::format("  failures ~ (L/N)^3: R2 {:.4f}", fit.cubic_r2);
  if (fit.power) {
    text += fmt::format("; best power {:.2f}: R2 {:.4f} over {} points", fit.power->exponent,
                        fit.power->r2, fit.power->points);
  }
  return text + "\n\n";
}

std::string print_means(std::span<const ProgramStudy> studies) {
  std::string text = "Geometric means of the speed-ups: high, low contention\n";
  const auto mean = [&](bool high_contention, StudyOutcome ProgramStudy::*outcome) {
    return geometric_mean(
        select_studies(studies, high_contention),
        [outcome](const ProgramStudy& study) { return speedup_of(study, study.*outcome); });
  };
  for (const auto& [name, outcome] : {std::pair{"MDB-local", &ProgramStudy::mdb_local},
                                      std::pair{"MDB-global", &ProgramStudy::mdb_global},
                                      std::pair{"SWL-best", &ProgramStudy::swl_best},
                                      std::pair{"CBWT-best", &ProgramStudy::cbwt_best}}) {
    text +=
        fmt::format("  {:10} {:6.3f} {:6.3f}\n", name, mean(true, outcome), mean(false, outcome));
  }
  return text + '\n';
}

/// The studies as sweeps whose waiting is the reservation failures.
std::vector<BypassSweep> failure_sweeps(std::span<const ProgramStudy> studies) {
  std::vector<BypassSweep> sweeps;
  for (const ProgramStudy& study : studies) {
    if (!study.program.taught) continue;
    BypassSweep& sweep = sweeps.emplace_back();
    for (std::size_t cached = 0; cached < study.cached.size(); ++cached) {
      sweep.cached.push_back(static_cast<int>(cached));
      sweep.wait_cycles.push_back(study.cached[cached].failures);
    }
  }
  return sweeps;
}

}  // namespace

double speedup_of(const ProgramStudy& study, const StudyOutcome& outcome) {
  return outcome.accesses_per_cycle() / study.base.accesses_per_cycle();
}

FailureFit fit_failures(std::span<const ProgramStudy> studies) {
  constexpr double papers_exponent = 3;
  const std::vector<BypassSweep> sweeps = failure_sweeps(studies);
  return {.cubic_r2 = r2_of_wait(sweeps, papers_exponent), .power = fit_wait(sweeps, 1)};
}

std::vector<ProgramStudy> select_studies(std::span<const ProgramStudy> studies,
                                         bool high_contention) {
  std::vector<ProgramStudy> selected;
  std::ranges::copy_if(studies, std::back_inserter(selected), [&](const ProgramStudy& study) {
    return study.program.high_contention == high_contention;
  });
  return selected;
}

double geometric_mean(std::span<const ProgramStudy> studies,
                      const std::function<double(const ProgramStudy&)>& value) {
  double logarithms = 0;
  for (const ProgramStudy& study : studies) logarithms += std::log(value(study));
  return studies.empty() ? 1 : std::exp(logarithms / static_cast<double>(studies.size()));
}

std::string print_figures(std::span<const ProgramStudy> studies) {
  std::string text =
      print_table("Figure 2: other L1s, over 16 KB by XOR", studies,
                  {speedup("modulo", &ProgramStudy::modulo), speedup("no L1", &ProgramStudy::no_l1),
                   speedup("8 MB", &ProgramStudy::l1_8mb)},
                  3);
  text += print_sweeps(studies);
  text += print_table(
      "Figure 6: speed-ups", studies,
      {speedup("SWL-best", &ProgramStudy::swl_best),
       speedup("CBWT-best", &ProgramStudy::cbwt_best),
       speedup("MDB-local", &ProgramStudy::mdb_local),
       speedup("MDB-global", &ProgramStudy::mdb_global),
       {"L chosen", [](const auto& study) { return study.mdb_global.mean_cached; }},
       {"SWL warps", [](const auto& study) { return static_cast<double>(study.swl_warps); }}},
      3);
  text += print_means(studies);
  text += print_table("Figure 7a: L1 hits per kilo-instruction", studies,
                      per_kilo_instruction(&StudyOutcome::l1_hits), 1);
  text += print_table("Figure 7b: reservation failures per kilo-instruction", studies,
                      per_kilo_instruction(&StudyOutcome::failures), 1);
  text += print_table("Figure 7c: memory instructions per cycle, all SMs", studies,
                      schemes([](const auto& outcome) { return outcome.accesses_per_cycle(); }), 4);
  text += print_table("Figure 7d: L2 requests per kilo-instruction", studies,
                      per_kilo_instruction(&StudyOutcome::l2_requests), 1);
  text += print_table("Section 7.1: DRAM requests per kilo-instruction", studies,
                      per_kilo_instruction(&StudyOutcome::dram_requests), 1);
  text += print_table("Figure 8a: L1 capacity, over 16 KB", studies,
                      {speedup("16 KB MDB", &ProgramStudy::mdb_global),
                       speedup("32 KB", &ProgramStudy::capacity, 0),
                       speedup("32 KB MDB", &ProgramStudy::capacity, 2),
                       speedup("64 KB", &ProgramStudy::capacity, 1),
                       speedup("64 KB MDB", &ProgramStudy::capacity, 3)},
                      3);
  text += print_table(
      "Figure 8b: schedulers, over GTO", studies,
      {speedup("GTO MDB", &ProgramStudy::mdb_global), speedup("RR", &ProgramStudy::scheduler, 0),
       speedup("RR MDB", &ProgramStudy::scheduler, 2),
       speedup("2-level", &ProgramStudy::scheduler, 1),
       speedup("2-level MDB", &ProgramStudy::scheduler, 3)},
      3);
  text += fmt::format("Storage of a generator with 8 calculators and 4 sets of 4 ways: {} bits\n",
                      generator_bits(8, 4, 4));
  for (const PaperClaim& claim : judge_claims(studies)) {
    text += fmt::format("{:3} {:12} {}: {}\n", claim.holds ? "yes" : "no", claim.place, claim.text,
                        claim.here);
  }
  return text;
}

}  // namespace sonde
