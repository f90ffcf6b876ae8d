// One simulated GPU measured by a suite, every value that is known of it judged.
#pragma once

#include "jobs/suite.hpp"
#include "sim/score/finding_verdict.hpp"
#include "support/random_gpu.hpp"

#include <map>
#include <string>
#include <vector>

namespace sonde::test {

/// Values reported with at least so much confidence are counted apart.
inline constexpr double high_confidence = 0.95;

/// "cache.l1.sets" is of the family "cache.l1", all other metrics of the one before the first dot.
std::string family_of(std::string_view metric);

struct ScoredValue {
  std::string metric;
  Verdict verdict = Verdict::wrong;
  bool is_confident = false;  // an answer, absence included, of high confidence
  std::string line;           // what was declared and what was found, unless it is right
};

struct GpuToScore {
  std::uint64_t seed = 1;  // of the drawing, and of the run
  Population population = Population::odd;
};

/// "odd 7", "papers 7 (h200)"
std::string describe(const GpuToScore& gpu);

struct GpuScore {
  std::string gpu;
  std::vector<ScoredValue> values = {};
  std::vector<std::string> lost_jobs = {};         // with the reason
  std::map<std::string, double> job_seconds = {};  // of the host
  std::map<std::string, int> not_judged = {};  // metrics of each job that nothing is declared about
};

struct ScoreOptions {
  std::vector<const Job*> jobs;
  SuiteLevel level = SuiteLevel::standard;
  double job_limit_s = 300;
};

/// The jobs run one after the other as in a run. What a lost job leaves out is wrong.
/// @throws Error if the model cannot be read
GpuScore score_gpu(const GpuToScore& gpu, const ScoreOptions& options);

}  // namespace sonde::test
