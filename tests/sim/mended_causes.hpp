// Drawn GPUs on which the inference was once wrong with confidence 1, cause by cause.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace sonde::test {

struct Cause {
  std::string name;
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> jobs;
  std::string metrics;     // what their names begin with
  bool are_found = false;  // and not only left open
};

void PrintTo(const Cause& cause, std::ostream* out);

/// Of caches of data and of textures.
std::vector<Cause> causes_of_caches();
/// Of caches of code and of constants, and of who shares a cache.
std::vector<Cause> causes_of_code_and_constants();
std::vector<Cause> causes_of_tlbs_and_latencies();

}  // namespace sonde::test
