// What devices made up for a test have in common.
#pragma once

#include "device/device.hpp"

namespace sonde::test {

/// Answers each probe with an empty trace.
class StubDevice : public Device {
 public:
  explicit StubDevice(int sm_count = 1) { info_.sm_count = sm_count; }
  const DeviceInfo& info() const override { return info_; }
  Health health() override { return {}; }

 protected:
  Trace play(const ProbeSpec&) override { return {}; }

  DeviceInfo info_;
};

}  // namespace sonde::test
