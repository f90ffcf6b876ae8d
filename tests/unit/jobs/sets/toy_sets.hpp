// What toys with known sets have in common, for the tests of the search for sets.
#pragma once

#include "analysis/structure/replacement/policies.hpp"
#include "jobs/sets/search.hpp"
#include "support/stub_device.hpp"

#include <gtest/gtest.h>

namespace sonde {

/// LRU sets of so many ways; which lines lie in a set is up to the toy.
class ToySets : public SetsProbe {
 public:
  ToySets(JobRun& run, Traits traits, std::uint32_t ways)
      : SetsProbe(run, std::move(traits)), ways_(ways) {}

  std::optional<Lines> find_access_evictors(const SetFindings&, const Lines&) override {
    return Lines{};
  }
  std::size_t longest_record(std::size_t) const override { return 4096; }
  std::vector<AccessRecord> record(const Lines&, const Lines&,
                                   std::vector<std::vector<std::uint16_t>> orders) override {
    std::vector<AccessRecord> records;
    for (auto& order : orders) {
      std::vector<bool> missed = play_trace({.policy = Policy::lru}, ways_, order);
      records.push_back({std::move(order), std::move(missed)});
    }
    return records;
  }

 protected:
  std::uint32_t ways_;
};

/// A job in which the toys are searched.
class ToySetsTest : public ::testing::Test {
 protected:
  test::StubDevice device;
  std::vector<JobResult> earlier;
  JobRun run{device, "cache.l1", SuiteLevel::standard, 1, earlier};
};

}  // namespace sonde
