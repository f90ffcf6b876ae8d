// The check of every probe with a list of SMs.
#pragma once

#include "base/error.hpp"

#include <fmt/format.h>

#include <vector>

namespace sonde {

/// @throws Error naming the first SM that the device does not have
inline void check_sms(const std::vector<int>& sms, int sm_count) {
  for (int sm : sms) {
    if (sm >= 0 && sm < sm_count) continue;
    throw Error(fmt::format("SM {} does not exist (the device has {})", sm, sm_count));
  }
}

}  // namespace sonde
