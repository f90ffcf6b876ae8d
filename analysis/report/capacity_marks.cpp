// Picks the capacities that a chart can show, and keeps their labels apart.
#include "analysis/report/capacity_marks.hpp"

#include "analysis/fleet/value_text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

struct Mark {
  double bytes = 0;
  std::string label;
  bool of_tlb = false;
  std::size_t line = 0;  // above the chart, so that labels of neighbours do not lie on each other
};

double place_px(double bytes, const ByteAxis& axis) {
  if (axis.kind == ByteAxis::Kind::linear) {
    const double width_bytes = std::max(axis.largest_bytes - axis.smallest_bytes, 1.0);
    return axis.width_px * (bytes - axis.smallest_bytes) / width_bytes;
  }
  const double octaves = std::log2(axis.largest_bytes / axis.smallest_bytes);
  return axis.width_px * std::log2(bytes / axis.smallest_bytes) / std::max(octaves, 1.0);
}

/// Labels in as few lines as there is room for, left to right.
void spread_labels(std::vector<Mark>& marks, const ByteAxis& axis) {
  constexpr double character_px = 6.4;
  std::vector<double> ends_px;  // of the last label of each line
  for (Mark& mark : marks) {
    const double middle_px = place_px(mark.bytes, axis);
    const double half_px = character_px * static_cast<double>(mark.label.size() + 1) / 2;
    while (mark.line < ends_px.size() && ends_px[mark.line] > middle_px - half_px) ++mark.line;
    if (mark.line == ends_px.size()) ends_px.push_back(0);
    ends_px[mark.line] = middle_px + half_px;
  }
}

}  // namespace

nlohmann::ordered_json capacity_marks(const DeviceResult& device,
                                      std::span<const NamedCapacity> capacities,
                                      const ByteAxis& axis) {
  std::vector<Mark> marks;
  for (const NamedCapacity& capacity : capacities) {
    const auto bytes = number_of(device, capacity.metric);
    if (!bytes || !axis.has(*bytes)) continue;
    marks.push_back({.bytes = *bytes,
                     .label = fmt::format("{} {}", capacity.name, format_bytes(*bytes)),
                     .of_tlb = capacity.metric.starts_with("tlb.")});
  }
  std::ranges::stable_sort(marks, {}, &Mark::bytes);
  spread_labels(marks, axis);
  Json levels = Json::array();
  for (const Mark& mark : marks) {
    levels.push_back(
        {{"bytes", mark.bytes}, {"label", mark.label}, {"tlb", mark.of_tlb}, {"line", mark.line}});
  }
  return levels;
}

}  // namespace sonde
