// The devices that were chosen for a merged file; merge.cpp chooses.
#pragma once

#include "analysis/results.hpp"
#include "store/run_header.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde {

/// A device in a row of a file. Without a file it has no results, and is only named.
struct Candidate {
  std::filesystem::path file{};
  std::uint64_t row = 0;
  DeviceResult device{};      // without its jobs
  std::string config_hash{};  // of the point at which it was measured
  std::string started_utc{};
  bool may_be_damaged = false;  // then it may be lost without harm to the others
};

/// The chosen devices, each at most once at a point.
class Choice {
 public:
  const std::vector<Candidate>& all() const { return all_; }
  /// At any point.
  bool holds(const std::string& uuid) const;

  /// @returns nullptr if it was added; else the candidate that is there for this GPU and point
  Candidate* add(Candidate one);

  /// Adds a device as lost for each point of the roster at which it left no results.
  /// @param elsewhere if not empty, devices with results at other points are incomplete, not lost,
  /// for this reason
  void add_missing(const Roster& roster, const std::string& elsewhere = "");

  /// If there are several points, removes those from the roster that no GPU has measured (the run
  /// was stopped, or is not over). @returns the number of removed points
  std::size_t leave_points_of_nobody(Roster& roster) const;

 private:
  std::vector<Candidate> all_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace sonde
