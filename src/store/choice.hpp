// The devices that were chosen for a merged file; merge.cpp chooses.
#pragma once

#include "analysis/results.hpp"
#include "store/run_header.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sonde {

/// A device in a row of a file, or one in memory (`given`).
struct Candidate {
  std::filesystem::path file{};
  std::uint64_t row = 0;
  std::shared_ptr<DeviceResult> given{};
  std::string uuid{};
  std::string config_hash{};  // of the point at which it was measured
  std::string started_utc{};
  DeviceOutcome status = DeviceOutcome::lost;
  int rank = 0;
};

/// The chosen devices, each at most once at a point.
class Choice {
 public:
  const std::vector<Candidate>& all() const { return all_; }
  bool holds(const std::string& uuid, const std::string& config_hash) const {
    return places_.contains({uuid, config_hash});
  }
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
