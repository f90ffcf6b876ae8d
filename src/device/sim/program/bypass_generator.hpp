// The hardware of Dai 2016, section 6, that chooses how many warps or blocks use the L1: shadow
// tags of some sets for each number of them, and one count of reservation failures.
#pragma once

#include "device/probe/program_probe.hpp"
#include "device/sim/program/l1_tags.hpp"

#include <cstdint>
#include <vector>

namespace sonde::sim {

class BypassGenerator {
 public:
  /// @param units N: warps of a block, or blocks of an SM
  /// @param set_of as in the L1, of `sets` sets of `ways` ways
  BypassGenerator(const DynamicBypass& rule, int units, std::uint32_t sets, std::uint32_t ways,
                  const LineToSet& set_of);

  /// An access of that unit, by whatever way it goes.
  /// @param failures of the SM since the kernel began
  void access(int unit, std::uint64_t line, std::uint64_t failures);

  /// The first so many units use the L1: all of them at first.
  int cached() const { return cached_; }
  std::uint64_t periods() const { return periods_; }
  std::uint64_t cached_in_periods() const { return cached_in_periods_; }

 private:
  /// What an L1 would hold that only the first `units` units used.
  struct Calculator {
    int units = 0;
    double hits = 0;
    std::vector<std::uint64_t> lines;  // [sampled set][way], the last used first
  };
  void choose(std::uint64_t failures);

  DynamicBypass rule_;
  int units_;
  std::uint32_t ways_;
  LineToSet set_of_;
  std::vector<Calculator> calculators_;
  std::vector<double> estimates_;  // failures with so many units over those with all
  int cached_;
  int accesses_ = 0;
  std::uint64_t last_failures_ = 0;
  double failures_ = 0;
  std::uint64_t periods_ = 0;
  std::uint64_t cached_in_periods_ = 0;
};

}  // namespace sonde::sim
