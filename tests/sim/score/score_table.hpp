// Scores of many GPUs as a table by family of metrics, and whether they meet bars.
#pragma once

#include "sim/score/random_gpu_score.hpp"

namespace sonde::test {

struct Count {
  std::uint64_t right = 0;
  std::uint64_t unresolved = 0;
  std::uint64_t wrong = 0;
  std::uint64_t confident = 0;
  std::uint64_t confident_and_right = 0;

  std::uint64_t all() const { return right + unresolved + wrong; }
  void add(const ScoredValue& value);
  double honest_share() const;  // right or "not resolvable"
  double unresolved_share() const;
  double confident_right_share() const;  // of the confident ones
};

/// What a score must reach; by itself what is asked for plausible GPUs
/// (docs/methods/confidence.md).
struct Bars {
  double least_honest_share = 0.995;
  double least_family_share = 0.97;  // the same of each family
  double most_unresolved_share = 0.05;
  double least_confident_share = 0.95;
  std::uint64_t most_lost_jobs = 0;
};

class ScoreTable {
 public:
  void add(const GpuScore& score);
  /// Families, lost jobs, what is not judged, the metrics that are wrong most often, and every
  /// value that is wrong, with its seed.
  void print(bool with_unresolved) const;
  /// One line for each bar that is missed.
  std::vector<std::string> missed(const Bars& bars) const;

 private:
  std::map<std::string, Count> by_family_;
  std::map<std::string, Count> by_metric_;
  std::map<std::string, double> job_seconds_;
  std::map<std::string, int> not_judged_;
  Count total_;
  std::uint64_t gpus_ = 0;
  std::vector<std::string> lost_jobs_;
  std::vector<std::string> wrong_;
  std::vector<std::string> unresolved_;
};

}  // namespace sonde::test
