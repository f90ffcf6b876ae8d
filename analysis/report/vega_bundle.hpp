// Vega as one script, built into the program so that a report needs no network and no files.
#pragma once

#include <string_view>

namespace sonde {

/// Empty if Vega was not found when sonde was built.
std::string_view vega_bundle();

}  // namespace sonde
