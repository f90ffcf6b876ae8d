// What may go into a merged file, and what of it was chosen: merge.cpp chooses.
#pragma once

#include "analysis/results.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde {

/// A device of some file, or one given in memory.
struct Candidate {
  std::filesystem::path file{};
  std::uint64_t row = 0;
  std::optional<DeviceResult> given{};
  std::string uuid{};
  std::string config_hash{};  // of its point
  std::string started_utc{};
  DeviceOutcome status = DeviceOutcome::lost;
  int rank = 0;
};

/// Where the point with this hash stands among them; their number if it does not.
std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash);

/// Chosen devices, each once at a point, in the order of the file to be written.
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

  void sort_by_rank();

  /// In the order of their points.
  void sort_by_point(const std::vector<Point>& points);

 private:
  void number_anew();

  std::vector<Candidate> all_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

}  // namespace sonde
