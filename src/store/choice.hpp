// What may go into a merged file, and what of it was chosen: merge.cpp chooses.
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

/// A device of some file, or one given in memory.
struct Candidate {
  std::filesystem::path file{};
  std::uint64_t row = 0;
  std::shared_ptr<DeviceResult> given{};
  std::string uuid{};
  std::string config_hash{};  // of its point
  std::string started_utc{};
  DeviceOutcome status = DeviceOutcome::lost;
  int rank = 0;
};

/// Chosen devices, each once at a point.
class Choice {
 public:
  const std::vector<Candidate>& all() const { return all_; }
  bool holds(const std::string& uuid, const std::string& config_hash) const {
    return places_.contains({uuid, config_hash});
  }
  /// At any point.
  bool holds(const std::string& uuid) const;

  /// @returns nullptr if it was added, else the one for the same GPU at the same point, which stays
  Candidate* add(Candidate one);

  /// Adds the devices of the roster that left no results at one of its points: as lost.
  /// @param elsewhere those that left some at another point are incomplete for this reason; empty:
  /// lost, too
  void add_missing(const Roster& roster, const std::string& elsewhere = "");

  /// Takes the points out of the roster that no GPU came to, of several: the run was stopped, or is
  /// under way. @returns how many
  std::size_t leave_points_of_nobody(Roster& roster) const;

 private:
  std::vector<Candidate> all_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace sonde
