// One metric on device after device. The devices of a run have it at the same place, mostly, so
// that it is sought where the last one had it first.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <string_view>

namespace sonde {

class FindingFinder {
 public:
  /// @param metric outlives the finder
  explicit FindingFinder(std::string_view metric) : metric_(metric) {}

  /// nullptr if the device does not have it. @pre it has it but once
  const Finding* in(const DeviceResult& device);

 private:
  std::string_view metric_;
  std::size_t job_ = 0;
  std::size_t place_ = 0;
};

}  // namespace sonde
