// The drawing of a device in words, for a log: what the picture of report.html says.
#pragma once

#include "analysis/report/drawing.hpp"

namespace sonde {

/// A title for each frame, outermost first, and below it a line for each fact of its units: unit
/// and size, what it is, the value, and how sure it is where that is less than 0.95. Then the units
/// of which it is not known whether they are there. Empty if nothing is drawn.
/// @param width longer lines are wrapped; 0: none is
std::string drawing_text(const DeviceDrawing& drawing, std::size_t width);

}  // namespace sonde
