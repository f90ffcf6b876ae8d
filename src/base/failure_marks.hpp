// Words that a reason contains when it was the GPU that failed, and not the probe. A run file keeps
// reasons as text: who throws and who judges take the words from here.
#pragma once

#include <string_view>

namespace sonde {

inline constexpr std::string_view wrong_data_mark = "wrong data:";  // loads, or copies, returned it
inline constexpr std::string_view hang_mark = "the GPU hangs";
inline constexpr std::string_view sticky_error_mark = "a sticky error";  // until the process ends
inline constexpr std::string_view gone_mark = "the GPU is gone";  // from the bus, or the driver

}  // namespace sonde
