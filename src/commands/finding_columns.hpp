// Findings of a large fleet, metric by metric: what 10,000 devices have of one is needed together,
// and all of them as `Finding`s would take 16 GB. What a finding shares with the one before it,
// which is all but some numbers as a rule, is kept once.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde {

class FindingColumns {
 public:
  /// Those of one job of a device. @param device not before that of the findings before
  void add(std::size_t device, const std::string& job, std::vector<Finding> findings);

  /// Sorted.
  std::vector<std::string> metrics_of(const std::string& job) const;

  /// Calls `take` with every device that has this metric in this job, and what it found.
  void for_each(const std::string& job, const std::string& metric,
                const std::function<void(std::size_t device, Finding finding)>& take) const;

 private:
  struct Entry {
    std::uint32_t device = 0;
    std::uint32_t form = 0;  // place in the column's forms
    double number = 0;       // if the value is one
    double confidence = 0;
    double repeatability = 0;
    double reproducibility = 0;
  };
  /// Deques, which have no room to spare as vectors have.
  struct Column {
    std::deque<Entry> entries;
    std::deque<Finding> forms;  // without what stands in the entries, and without the metric
  };
  std::map<std::string, std::unordered_map<std::string, Column>> columns_;  // by job and metric
};

}  // namespace sonde
