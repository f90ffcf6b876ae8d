// Drawn GPUs on which the inference was once wrong with confidence 1, cause by cause.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace sonde::test {

struct Cause {
  std::string name;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> jobs;
  std::string metrics;     // what their names begin with
  bool are_found = false;  // and not only left open
  bool is_long = false;    // takes more than some five seconds: part of ./bootstrap.sh soak
};

void PrintTo(const Cause& cause, std::ostream* out);

/// All of them, those of the second list marked as long.
inline std::vector<Cause> quick_and_long(std::vector<Cause> quick, std::vector<Cause> lasting) {
  for (Cause& cause : lasting) {
    cause.is_long = true;
    quick.push_back(std::move(cause));
  }
  return quick;
}

/// Of caches of data and of textures.
std::vector<Cause> causes_of_caches();
/// Of caches of code and of constants, and of who shares a cache.
std::vector<Cause> causes_of_code_and_constants();
std::vector<Cause> causes_of_tlbs_and_latencies();

}  // namespace sonde::test
