// Whether chases on other SMs push lines of SM 0 out of a cache: of code, of which GPUs that fetch
// ahead find new lines, too. A part of the job sharing. Method: docs/methods/sharing.md.
#pragma once

#include "jobs/sharing/co_run.hpp"
#include "jobs/sharing/scope_search.hpp"

namespace sonde {

/// SM 0 chases one of two lists, others the other one.
class DisturbedChase final : public ScopeSearch {
 public:
  /// @param cache with lists of which two overfill it and one does not (fit_lists); outlives this
  /// @param number 0 and 1 take the two lists the other way round
  DisturbedChase(JobRun& run, const CoRunCache& cache, std::size_t number);

  std::string prepare() override;
  Found found_of(const std::vector<int>& sms) override;
  std::uint64_t probes() const override { return probes_; }

 private:
  ListChase own_chase() const { return {&cache_, 0, own_base_bytes_}; }
  ListChase other_chase(int sm) const { return {&cache_, sm, other_base_bytes_}; }
  bool both_lose(const std::vector<AccessShares>& shares) const;
  std::vector<AccessShares> ask(const std::vector<ListChase>& chases);

  JobRun& run_;
  const CoRunCache& cache_;
  CoRunDraw draw_;
  std::uint64_t own_base_bytes_;
  std::uint64_t other_base_bytes_;
  double own_alone_ = 0;  // shares that each list misses when SM 0 alone chases it
  double other_alone_ = 0;
  std::uint64_t probes_ = 0;
};

}  // namespace sonde
