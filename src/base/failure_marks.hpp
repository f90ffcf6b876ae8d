// Words in a failure's reason that tell that the GPU failed and not the probe. The code that throws
// and the code that judges both use them, since a run file stores reasons as text.
#pragma once

#include <string_view>

namespace sonde {

inline constexpr std::string_view wrong_data_mark = "wrong data:";  // from loads or copies
inline constexpr std::string_view hang_mark = "the GPU hangs";
inline constexpr std::string_view sticky_error_mark = "a sticky error";  // until the process ends
inline constexpr std::string_view gone_mark = "the GPU is gone";  // from the bus or the driver

}  // namespace sonde
