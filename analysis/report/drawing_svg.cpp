// Boxes in frames, from the innermost frame out; each function returns the SVG of a part at a place
// and how high it became.
#include "analysis/report/drawing_svg.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>

namespace sonde {
namespace {

// Sizes in px. The fonts are those of style.css.
constexpr double font_px = 12;
constexpr double name_px = 13;
constexpr double row_px = 17;
constexpr double name_row_px = 24;
constexpr double padding_px = 9;
constexpr double gap_px = 10;
constexpr double label_px = 80;
constexpr double sure_px = 30;
constexpr double least_box_px = 240;
constexpr double slice_px = 12;
constexpr std::size_t most_text_lines = 2;
constexpr std::size_t most_reason_lines = 3;
constexpr double low_confidence = 0.9;  // below it a value cannot fail a device (quorum.cpp)

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
};

struct Part {
  std::string svg;
  double height = 0;
};

std::string_view class_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::memory: return "memory";
    case UnitKind::cache: return "cache";
    case UnitKind::tlb: return "tlb";
    case UnitKind::core: return "core";
    case UnitKind::link: return "link";
  }
  return "";
}

std::string text_at(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, style,
                     escape_markup(text));
}

/// Line by line: an escaped line break would be shown as what it is escaped to.
std::string title_of(std::string_view text) {
  if (text.empty()) return "";
  std::string title;
  for (const auto line : std::views::split(text, '\n')) {
    if (!title.empty()) title += "&#10;";
    title += escape_markup(std::string_view(line.begin(), line.end()));
  }
  return fmt::format("<title>{}</title>", title);
}

Part fact_part(const DrawnFact& fact, const Box& box) {
  const double indent = fact.label.empty() ? 0 : label_px;
  const double text_x = box.x + indent;
  const double room = box.width - indent - (fact.answered ? sure_px : 0);
  const auto lines =
      fit_text(fact.text, font_px, room, fact.answered ? most_text_lines : most_reason_lines);
  std::string svg = "<g>" + title_of(fact.remark);
  if (!fact.label.empty()) svg += text_at(box.x, box.y + font_px, "label", fact.label);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    svg += text_at(text_x, box.y + font_px + static_cast<double>(i) * row_px,
                   fact.answered ? "value" : "unknown", lines[i]);
  }
  if (fact.answered) {
    svg += text_at(box.x + box.width, box.y + font_px,
                   fact.confidence < low_confidence ? "sure low" : "sure",
                   fmt::format("{:.2g}", fact.confidence));
  }
  return {svg + "</g>\n", static_cast<double>(lines.size()) * row_px};
}

/// Facts in columns side by side, filled one column after the other.
Part facts_part(const std::vector<DrawnFact>& facts, const Box& box, std::size_t columns) {
  const double width =
      (box.width - static_cast<double>(columns - 1) * 2 * gap_px) / static_cast<double>(columns);
  const std::size_t rows = (facts.size() + columns - 1) / columns;
  Part all;
  for (std::size_t first = 0, column = 0; first < facts.size(); first += rows, ++column) {
    double y = box.y;
    for (std::size_t i = first; i < std::min(first + rows, facts.size()); ++i) {
      const double x = box.x + static_cast<double>(column) * (width + 2 * gap_px);
      const Part fact = fact_part(facts[i], {x, y, width});
      all.svg += fact.svg;
      y += fact.height;
    }
    all.height = std::max(all.height, y - box.y);
  }
  return all;
}

/// A strip for each side of the chip with a cell for each slice there.
Part slices_part(const std::vector<std::size_t>& slices, const Box& box) {
  Part all;
  if (slices.empty()) return all;
  const bool stacked = box.width < 2 * least_box_px;
  const auto parts = static_cast<double>(stacked ? 1 : slices.size());
  const double width = (box.width - (parts - 1) * 2 * gap_px) / parts;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double x = box.x + (stacked ? 0 : static_cast<double>(i) * (width + 2 * gap_px));
    const double y = box.y + (stacked ? all.height : 0);
    const std::string name = slices.size() == 1
                                 ? fmt::format("{} slices", slices[i])
                                 : fmt::format("side {} of the chip: {} slices", i, slices[i]);
    all.svg += text_at(x, y + font_px, "label", name);
    const double pitch = std::min(30.0, width / static_cast<double>(slices[i]));
    for (std::size_t cell = 0; cell < slices[i]; ++cell) {
      all.svg += fmt::format(
          "<rect class=\"slice\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>",
          x + static_cast<double>(cell) * pitch, y + row_px, std::max(1.0, pitch - 3), slice_px);
    }
    all.height = stacked ? all.height + row_px + slice_px + 4 : row_px + slice_px + 4;
  }
  all.svg += "\n";
  return all;
}

std::size_t columns_in(double width) {
  return std::max<std::size_t>(
      1, static_cast<std::size_t>((width + gap_px) / (least_box_px + gap_px)));
}

/// What stands in a box, without its border.
Part unit_content(const DrawnUnit& unit, const Box& box) {
  const Box inner{box.x + padding_px + 3, box.y + 6, box.width - 2 * padding_px - 3};
  const double size_width = text_width_px(unit.size, name_px);
  const auto name = fit_text(unit.name, name_px, inner.width - size_width - gap_px, 1);
  Part all{text_at(inner.x, inner.y + name_px, "name", name.front()) +
               (unit.size.empty()
                    ? ""
                    : text_at(inner.x + inner.width, inner.y + name_px, "size", unit.size)) +
               "\n",
           name_row_px + 6};
  const Part facts = facts_part(unit.facts, {inner.x, box.y + all.height, inner.width},
                                unit.wide ? columns_in(inner.width) : 1);
  all.height += facts.height;
  const Part slices = slices_part(unit.slices, {inner.x, box.y + all.height, inner.width});
  return {all.svg + facts.svg + slices.svg, all.height + slices.height + padding_px};
}

std::string boxed(const DrawnUnit& unit, const Part& content, const Box& box, double height) {
  return fmt::format(
      "<g class=\"unit {}{}\"><rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
      "height=\"{:.1f}\" rx=\"3\"/><rect class=\"band\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"4\" "
      "height=\"{:.1f}\"/>\n{}</g>\n",
      class_of(unit.kind), unit.placed ? "" : " unplaced", box.x, box.y, box.width, height, box.x,
      box.y, height, content.svg);
}

Part units_part(const std::vector<DrawnUnit>& units, const Box& box) {
  const std::size_t columns = columns_in(box.width);
  const double width =
      (box.width - static_cast<double>(columns - 1) * gap_px) / static_cast<double>(columns);
  Part all;
  for (std::size_t first = 0; first < units.size();) {
    std::size_t last = first + 1;  // of this row, exclusive
    while (!units[first].wide && last < units.size() && last - first < columns &&
           !units[last].wide) {
      ++last;
    }
    std::vector<Box> boxes;
    std::vector<Part> contents;
    double height = 0;
    for (std::size_t i = first; i < last; ++i) {
      boxes.push_back({box.x + static_cast<double>(i - first) * (width + gap_px),
                       box.y + all.height, units[i].wide ? box.width : width});
      contents.push_back(unit_content(units[i], boxes.back()));
      height = std::max(height, contents.back().height);
    }
    for (std::size_t i = first; i < last; ++i) {
      all.svg += boxed(units[i], contents[i - first], boxes[i - first], height);
    }
    all.height += height + gap_px;
    first = last;
  }
  return all;
}

/// Frame `depth` and all inside it.
Part frame_part(const std::vector<DrawnFrame>& frames, std::size_t depth, const Box& box) {
  const DrawnFrame& frame = frames[depth];
  const Box inner{box.x + gap_px, box.y + name_row_px + 4, box.width - 2 * gap_px};
  const auto name = fit_text(frame.name, name_px, inner.width, 2);
  Part all{"", name_row_px + 4 + static_cast<double>(name.size() - 1) * row_px};
  for (std::size_t i = 0; i < name.size(); ++i) {
    all.svg += text_at(inner.x, box.y + 4 + name_px + static_cast<double>(i) * row_px, "frame_name",
                       name[i]);
  }
  if (depth + 1 < frames.size()) {
    const Part within = frame_part(frames, depth + 1, {inner.x, box.y + all.height, inner.width});
    all.svg += within.svg;
    all.height += within.height + gap_px;
  }
  const Part units = units_part(frame.units, {inner.x, box.y + all.height, inner.width});
  all.height += units.height;
  return {fmt::format("<rect class=\"frame\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                      "height=\"{:.1f}\" rx=\"5\"/>\n{}{}",
                      box.x, box.y, box.width, all.height, all.svg, units.svg),
          all.height};
}

/// Advance width in em by class of glyph.
double glyph_em(unsigned char glyph) {
  if (std::string_view(" .,:;'|ijlI!").find(static_cast<char>(glyph)) != std::string_view::npos)
    return 0.34;
  if (std::string_view("frt()[]-\"/").find(static_cast<char>(glyph)) != std::string_view::npos)
    return 0.42;
  if (std::string_view("mMW%@w+").find(static_cast<char>(glyph)) != std::string_view::npos)
    return 0.97;
  return glyph >= 'A' && glyph <= 'Z' ? 0.75 : 0.64;
}

}  // namespace

double text_width_px(std::string_view text, double size_px) {
  double em = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) em += byte < 0x80 ? glyph_em(byte) : 1.0;  // UTF-8: one per glyph
  }
  return em * size_px;
}

std::vector<std::string> fit_text(std::string_view text, double size_px, double width_px,
                                  std::size_t most_lines) {
  std::vector<std::string> lines(1);
  const auto fits = [&](const std::string& line) {
    return text_width_px(line, size_px) <= width_px;
  };
  const auto shorten = [&](std::string line) {
    while (!line.empty() && !fits(line + "…")) {
      while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0) == 0x80) {
        line.pop_back();
      }
      if (!line.empty()) line.pop_back();
    }
    return line + "…";
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (fits(longer)) {
      lines.back() = longer;
    } else if (lines.back().empty() || lines.size() == most_lines) {
      lines.back() = shorten(longer);
      return lines;
    } else {
      lines.emplace_back();
      continue;  // the same word again
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string drawing_svg(const DeviceDrawing& drawing, double width_px) {
  if (drawing.frames.empty()) return "";
  const Part all = frame_part(drawing.frames, 0, {0.5, 0.5, width_px - 1});
  return fmt::format(
      "<svg role=\"img\" aria-label=\"{}\" "
      "viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\">\n{}</svg>\n",
      escape_markup("drawing of " + drawing.frames.front().name), width_px, all.height + 1,
      width_px, all.height + 1, all.svg);
}

}  // namespace sonde
