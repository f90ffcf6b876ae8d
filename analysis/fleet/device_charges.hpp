// Collects charges against one device on the ground of itself.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/fleet/value_text.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

class ChargesOfDevice {
 public:
  /// The charges are appended; run and charges outlive this.
  ChargesOfDevice(const RunResult& run, std::size_t index, std::vector<Charge>& charges)
      : result_(run.devices[index]), index_(index), charges_(charges) {}

  /// @returns the charge, to be completed before the next is added
  Charge& add(Severity severity, Trouble trouble, std::string metric, std::string value,
              std::string reason) {
    charges_.push_back({.device = index_,
                        .ground = Ground::itself,
                        .severity = severity,
                        .trouble = trouble,
                        .metric = std::move(metric),
                        .value = std::move(value),
                        .reason = std::move(reason)});
    return charges_.back();
  }
  const DeviceResult& result() const { return result_; }
  /// 0 if the device did not tell.
  double number(std::string_view metric) const { return number_of(result_, metric).value_or(0); }

 private:
  const DeviceResult& result_;
  std::size_t index_;
  std::vector<Charge>& charges_;
};

}  // namespace sonde
