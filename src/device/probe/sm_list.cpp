// Checks lists of SMs for the probes.
#include "device/probe/sm_list.hpp"

#include "base/error.hpp"

#include <string>

namespace sonde {

void check_sms(const std::vector<int>& sms, int sm_count) {
  for (int sm : sms) {
    require(sm >= 0 && sm < sm_count, "SM " + std::to_string(sm) +
                                          " does not exist (the device has " +
                                          std::to_string(sm_count) + ")");
  }
}

}  // namespace sonde
