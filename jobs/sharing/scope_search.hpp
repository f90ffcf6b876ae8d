// Two ways to ask which SMs share a cache with SM 0. A part of the job sharing. Method:
// docs/methods/sharing.md.
#pragma once

#include "analysis/sharing.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// One try at one place. Those of other numbers are at others.
class ScopeSearch {
 public:
  ScopeSearch() = default;
  ScopeSearch(const ScopeSearch&) = delete;
  ScopeSearch& operator=(const ScopeSearch&) = delete;
  virtual ~ScopeSearch() = default;

  /// Why its answers would tell nothing; empty if they do.
  /// @throws DeviceError, DeviceLostError
  virtual std::string prepare() = 0;

  /// What shows of these SMs together: all share the cache, or none does. @pre prepare
  virtual Found found_of(const std::vector<int>& sms) = 0;

  virtual std::uint64_t probes() const = 0;
};

}  // namespace sonde
