// What every probe with a list of SMs is checked for.
#pragma once

#include <vector>

namespace sonde {

/// @throws Error naming the first SM that the device does not have
void check_sms(const std::vector<int>& sms, int sm_count);

}  // namespace sonde
