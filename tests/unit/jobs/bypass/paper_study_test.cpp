// The figures of Dai 2016 from made-up outcomes, and which machines a study plays.
#include "bench/paper_study.hpp"

#include "base/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

namespace sonde {
namespace {

using ::testing::HasSubstr;

StudyOutcome outcome(double cycles, double failures = 0) {
  StudyOutcome result;
  result.cycles = cycles;
  result.accesses = 1000;
  result.instructions = 5000;
  result.failures = failures;
  return result;
}

/// A taught program of 4 units whose failures follow (L/4)^exponent.
ProgramStudy study_with(double exponent) {
  ProgramStudy study;
  study.program.program.name = "made_up";
  study.program.high_contention = true;
  study.program.taught = true;
  for (int cached = 0; cached <= 4; ++cached) {
    study.cached.push_back(outcome(1000, 800 * std::pow(cached / 4.0, exponent)));
  }
  study.base = study.cached.back();
  for (StudyOutcome ProgramStudy::*other :
       {&ProgramStudy::modulo, &ProgramStudy::no_l1, &ProgramStudy::l1_8mb,
        &ProgramStudy::mdb_local, &ProgramStudy::mdb_global, &ProgramStudy::swl_best,
        &ProgramStudy::cbwt_best}) {
    study.*other = outcome(1000);
  }
  study.capacity.assign(4, outcome(1000));
  study.scheduler.assign(4, outcome(1000));
  return study;
}

TEST(PaperFiguresTest, programs_that_teach_fit_the_papers_law_if_their_failures_are_cubic) {
  std::vector studies{study_with(3), study_with(1)};
  studies[1].program.taught = false;
  const FailureFit cubic = fit_failures(studies);
  EXPECT_NEAR(cubic.cubic_r2, 1, 1e-9);
  ASSERT_TRUE(cubic.power);
  EXPECT_NEAR(cubic.power->exponent, 3, 0.02);
  EXPECT_EQ(cubic.power->points, 4u);

  const FailureFit linear = fit_failures(std::vector{study_with(1)});
  ASSERT_TRUE(linear.power);
  EXPECT_NEAR(linear.power->exponent, 1, 0.02);
}

TEST(PaperFiguresTest, means_are_geometric_and_keep_the_two_groups_apart) {
  std::vector studies{study_with(3), study_with(3), study_with(3)};
  studies[0].mdb_local = outcome(250);   // 4
  studies[1].mdb_local = outcome(1000);  // 1
  studies[2].mdb_local = outcome(2000);  // 0.5
  studies[2].program.high_contention = false;
  const auto gain = [](const ProgramStudy& study) { return speedup_of(study, study.mdb_local); };
  EXPECT_NEAR(geometric_mean(select_studies(studies, true), gain), 2, 1e-12);
  EXPECT_NEAR(geometric_mean(select_studies(studies, false), gain), 0.5, 1e-12);
}

/// All sixteen; none gains by anything.
std::vector<ProgramStudy> paper_studies() {
  std::vector<ProgramStudy> studies;
  for (const PaperProgram& program : paper_programs()) {
    studies.push_back(study_with(3));
    studies.back().program = program;
  }
  return studies;
}

PaperClaim claim(const std::vector<ProgramStudy>& studies, const std::string& text) {
  for (const PaperClaim& one : judge_claims(studies)) {
    if (one.text.starts_with(text)) return one;
  }
  throw std::out_of_range(text);
}

TEST(PaperClaimsTest, all_sixteen_programs_are_asked) {
  std::vector studies = paper_studies();
  EXPECT_FALSE(judge_claims(studies).empty());
  studies.pop_back();
  EXPECT_TRUE(judge_claims(studies).empty());
}

TEST(PaperClaimsTest, a_number_holds_within_five_percent) {
  std::vector studies = paper_studies();
  for (ProgramStudy& study : studies) study.mdb_local = outcome(1000 / 1.70);
  EXPECT_TRUE(claim(studies, "MDB-local 1.75").holds);
  EXPECT_EQ(claim(studies, "MDB-local 1.75").here, "1.700");
  for (ProgramStudy& study : studies) study.mdb_local = outcome(1000 / 1.65);
  EXPECT_FALSE(claim(studies, "MDB-local 1.75").holds);
}

TEST(PaperClaimsTest, a_statement_names_the_programs_that_it_is_not_true_of) {
  std::vector studies = paper_studies();
  EXPECT_EQ(claim(studies, "faster without an L1").here, "not sc, s2k, kms");
  for (ProgramStudy& study : studies) study.no_l1 = outcome(900);
  EXPECT_TRUE(claim(studies, "faster without an L1").holds);
  EXPECT_FALSE(claim(studies, "slower without an L1").holds);
  studies.front().mdb_global.cycles = 500;  // ptf
  EXPECT_THAT(claim(studies, "all of high contention gain").here, HasSubstr("not ptf, sc"))
      << "as MDB-local does not gain";
  studies.front().mdb_local.cycles = 500;
  EXPECT_THAT(claim(studies, "all of high contention gain").here, HasSubstr("not sc"));
}

TEST(PaperClaimsTest, schemes_are_compared_by_their_means) {
  std::vector studies = paper_studies();
  for (ProgramStudy& study : studies) study.base.dram_requests = 100;
  EXPECT_TRUE(claim(studies, "MDB-global has the fewest failures").holds);
  EXPECT_TRUE(claim(studies, "all schemes lighten the traffic").holds);
  EXPECT_FALSE(claim(studies, "MDB-global gains with 16").holds);
  studies.front().mdb_global.failures = 1;
  studies.front().cbwt_best.dram_requests = 10000;
  EXPECT_FALSE(claim(studies, "MDB-global has the fewest failures").holds);
  EXPECT_FALSE(claim(studies, "all schemes lighten the traffic").holds);
}

/// One lane that takes as long as the machine is made to.
Trace played(double cycles) {
  Trace trace;
  LaneTrace& lane = trace.lanes.emplace_back();
  lane.accesses = 100;
  lane.elapsed_cycles = static_cast<std::uint64_t>(cycles);
  lane.counts.assign(program_count_total, 0);
  lane.counts[static_cast<std::size_t>(ProgramCount::instructions)] = 400;
  return trace;
}

PaperProgram small_program() {
  PaperProgram program;
  program.program.name = "small";
  program.program.kernels = {{.block_x = 128}};  // four warps
  program.level = BypassLevel::warp;
  return program;
}

TEST(PaperStudyTest, the_best_number_of_warps_is_taken_with_and_without_protection) {
  const ProgramStudy study =
      study_program(small_program(), 100, [](const std::string&, const ProgramProbe& probe) {
        const int best = probe.machine.protecting_distance ? 3 : 2;
        return played(1000 + 100 * std::abs(probe.active_warps - best));
      });
  EXPECT_EQ(study.swl_warps, 2);
  EXPECT_EQ(study.cbwt_warps, 3);
  EXPECT_EQ(study.swl_best.cycles, 1000);
  EXPECT_EQ(study.cbwt_best.cycles, 1000);
  EXPECT_EQ(study.base.cycles, 1200) << "all warps, which 0 stands for";
}

TEST(PaperStudyTest, every_play_is_another_one_and_the_base_changes_nothing) {
  std::map<std::string, int> labels;
  int unchanged = 0;
  const ProgramStudy study =
      study_program(small_program(), 100, [&](const std::string& label, const ProgramProbe& probe) {
        ++labels[label];
        EXPECT_EQ(probe.sm_accesses, 100u);
        const bool base = probe.machine == MachineChange{} && probe.active_warps == 0;
        if (base && probe.cached == 4) ++unchanged;
        return played(1000 + 10 * probe.cached);
      });
  for (const auto& [label, times] : labels) EXPECT_EQ(times, 1) << label;
  EXPECT_EQ(unchanged, 1);
  ASSERT_EQ(study.cached.size(), 5u);
  EXPECT_EQ(study.cached[1].cycles, 1010);
  EXPECT_EQ(study.cached[4].cycles, study.base.cycles);
  EXPECT_EQ(study.capacity.size(), 4u);
  EXPECT_EQ(study.scheduler.size(), 4u);
}

TEST(PaperStudyTest, what_the_generator_chose_is_a_mean_over_its_periods) {
  Trace trace = played(10);
  trace.lanes.push_back(trace.lanes[0]);
  for (std::size_t sm : {0u, 1u}) {
    trace.lanes[sm].counts[static_cast<std::size_t>(ProgramCount::periods)] = 2;
    trace.lanes[sm].counts[static_cast<std::size_t>(ProgramCount::cached_in_periods)] = 3 + 4 * sm;
  }
  EXPECT_DOUBLE_EQ(read_outcome(trace).mean_cached, 2.5);
  trace.lanes[0].counts[static_cast<std::size_t>(ProgramCount::dram_requests)] = 7;
  EXPECT_EQ(read_outcome(trace).dram_requests, 7);
  trace.lanes[0].counts.clear();
  EXPECT_THROW(read_outcome(trace), Error);
}

}  // namespace
}  // namespace sonde
