// The hardware of Dai 2016, section 6, that chooses how many warps or blocks use the L1: shadow
// tags of some sets for each number of them, and a counter of reservation failures.
#pragma once

#include "device/probe/program_probe.hpp"
#include "device/sim/program/l1_tags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sonde::sim {

class BypassGenerator {
 public:
  /// @param units N: warps of a block, or blocks of an SM
  /// @param set_of as in the L1, which has `sets` sets of `ways` ways
  BypassGenerator(const DynamicBypass& rule, int units, std::uint32_t sets, std::uint32_t ways,
                  const LineToSet& set_of)
      : rule_(rule), units_(units), ways_(ways), set_of_(set_of), cached_(units) {
    const std::size_t sampled = (sets + sampled_ratio - 1) / sampled_ratio;
    for (int count = 1; count <= std::min(units, most_calculators); ++count) {
      calculators_.push_back({.units = count,
                              .hits = 0,
                              .lines = std::vector<std::uint64_t>(sampled * ways, no_line)});
      estimates_.push_back(std::pow(static_cast<double>(count) / units, rule.exponent));
    }
  }

  /// Observes an access of a unit, through the L1 or past it.
  /// @param failures reservation failures of the SM since the kernel began
  void access(int unit, std::uint64_t line, std::uint64_t failures) {
    const std::uint32_t set = set_of_(line);
    if (set % sampled_ratio == 0) {
      for (Calculator& calculator : calculators_) {
        if (unit >= calculator.units) continue;
        const auto first = calculator.lines.begin() + set / sampled_ratio * ways_;
        const auto found = std::find(first, first + ways_, line);
        const bool hit = found != first + ways_;
        calculator.hits += hit ? 1 : 0;
        // The line moves to the front, the lines before it move back by one.
        const auto last = hit ? found : first + ways_ - 1;
        std::copy_backward(first, last, last + 1);
        *first = line;
      }
    }
    if (++accesses_ < rule_.period_accesses) return;
    accesses_ = 0;
    choose(failures);
  }

  /// So many of the first units use the L1; all units at first.
  int cached() const { return cached_; }
  std::uint64_t periods() const { return periods_; }
  std::uint64_t cached_in_periods() const { return cached_in_periods_; }

 private:
  static constexpr int most_calculators = 8;         // Dai 2016, section 6
  static constexpr std::uint32_t sampled_ratio = 8;  // Dai 2016, section 6: 4 of 32 sets
  static constexpr std::uint64_t no_line = ~std::uint64_t{0};

  /// The tags of an L1 that only the first `units` units use.
  struct Calculator {
    int units = 0;
    double hits = 0;
    std::vector<std::uint64_t> lines;  // [sampled set][way], the last used first
  };
  /// Chooses the number of units with the most hits less weighted failures. All estimates start
  /// from the failures counted with the present number of units: the paper's hardware has a table
  /// of (L/N)^3 and a multiplier, and nothing that scales the count to all units.
  void choose(std::uint64_t failures) {
    if (failures < last_failures_) last_failures_ = 0;  // a kernel began: it counts from 0
    failures_ += static_cast<double>(failures - last_failures_);
    last_failures_ = failures;
    int best = units_;
    double most = -INFINITY;
    for (std::size_t at = 0; at < calculators_.size(); ++at) {
      const double adjusted =
          calculators_[at].hits * sampled_ratio - rule_.e * failures_ * estimates_[at];
      if (adjusted < most) continue;  // of equal values the last: bypass no more than needed
      most = adjusted;
      best = calculators_[at].units;
    }
    // If the last calculator is best, bypassing gains nothing, even if there are more units.
    cached_ = best == most_calculators ? units_ : best;
    ++periods_;
    cached_in_periods_ += static_cast<std::uint64_t>(cached_);
    for (Calculator& calculator : calculators_) calculator.hits = std::floor(calculator.hits / 2);
    failures_ = std::floor(failures_ / 2);
  }

  DynamicBypass rule_;
  int units_;
  std::uint32_t ways_;
  LineToSet set_of_;
  std::vector<Calculator> calculators_;
  std::vector<double> estimates_;  // failures with so many units / failures with all units
  int cached_;
  int accesses_ = 0;
  std::uint64_t last_failures_ = 0;
  double failures_ = 0;
  std::uint64_t periods_ = 0;
  std::uint64_t cached_in_periods_ = 0;
};

}  // namespace sonde::sim
