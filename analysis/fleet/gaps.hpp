// What has no answer: counted while the findings are there, as a large fleet has millions.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sonde {

/// Collects gaps; the same may be added again.
class GapCollector {
 public:
  /// Of all jobs, or of one, how they ended and their findings. @param run of every call the same
  void add(const RunResult& run, std::string_view job = "");
  /// In the order of jobs, statuses and reasons.
  std::vector<Gap> take() const;

 private:
  struct Place {
    std::set<std::string> metrics;
    std::vector<std::size_t> devices;
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // job, status, reason
  Place& place_of(std::string_view job, Status status, std::string_view reason);

  std::map<Key, Place, std::less<>> places_;
};

}  // namespace sonde
