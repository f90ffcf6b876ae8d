// Any text as the model of a simulated GPU: refused, or one whose numbers agree with each other.
#include "base/error.hpp"
#include "device/sim/model/model_files.hpp"
#include "fuzz/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    sonde::sim::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const sonde::ConfigError&) {
    // Refused.
  }
  return 0;
}
