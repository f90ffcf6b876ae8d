// The drawing of a device as nested boxes of the page, which style.css lays out for every width.
#pragma once

#include "analysis/report/drawing.hpp"

#include <string>

namespace sonde {

/// The frames from the outside in: what a frame shares stands before what lies inside it. "" if
/// there is nothing to draw.
std::string drawing_html(const DeviceDrawing& drawing);

}  // namespace sonde
