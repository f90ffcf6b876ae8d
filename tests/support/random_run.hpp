// Results that no GPU gave: random, with everything that a file may have trouble with (empty lists,
// ragged rows, NaN, UTF-8, numbers at their limits). The same seed gives the same results.
#pragma once

#include "analysis/results.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace sonde::test {

/// @param size_factor scales the recorded values; 1: some hundred values, 1000: several MiB
DeviceResult random_device(std::uint64_t seed, int rank, int size_factor = 1);
JobResult random_job(std::uint64_t seed, const std::string& name, int size_factor = 1);
Provenance some_provenance();

/// Every member as text, numbers exactly: equal texts mean equal results. Two NaN are equal.
std::string print(const JobResult& job);
std::string print(const DeviceResult& device);
std::string print(const RunResult& run);

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sonde::test
