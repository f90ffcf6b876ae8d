// Lays out the drawing of a device as SVG that stands in the page; colours are those of style.css.
#pragma once

#include "analysis/report/drawing.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Width of a text in a sans-serif font, in px: that of DejaVu Sans, the widest of those that pages
/// are usually shown in (advance widths of its glyphs, by class).
double text_width_px(std::string_view text, double size_px);

/// The text in lines of at most `width_px`, broken at spaces, words where they must be. What does
/// not fit into `most_lines` ends in "…".
std::vector<std::string> fit_text(std::string_view text, double size_px, double width_px,
                                  std::size_t most_lines);

/// <svg> of that width and of the height that it needs. Boxes of a row are equally high and lie on
/// a grid of as many columns as have room. @pre width_px >= 300
std::string drawing_svg(const DeviceDrawing& drawing, double width_px);

}  // namespace sonde
