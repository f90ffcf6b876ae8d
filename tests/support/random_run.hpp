// Results that no GPU gave: random, with everything that a file may have trouble with (empty lists,
// ragged rows, NaN, UTF-8, numbers at their limits). The same seed gives the same results.
#pragma once

#include "analysis/results.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <string>

namespace sonde::test {

/// @param size_factor scales the recorded values; 1: some hundred values, 1000: several MiB
DeviceResult random_device(std::uint64_t seed, int rank, int size_factor = 1);
JobResult random_job(std::uint64_t seed, const std::string& name, int size_factor = 1);
Provenance some_provenance();

/// Every member as text, numbers exactly: equal texts mean equal results.
std::string print(const JobResult& job);
std::string print(const DeviceResult& device);
std::string print(const RunResult& run);

}  // namespace sonde::test
