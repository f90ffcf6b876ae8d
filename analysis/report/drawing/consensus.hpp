// The findings of most devices of a group, as one device: for drawings and marks of the page.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/drawing/drawing.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// A device with the findings of a group: for each metric the kind of answer that most devices give
/// (a number, a text, a list, "not present", ...; on a tie the first); for numbers the finding with
/// the lower median. Inventory, node and rank are those of the first device. All findings are in
/// one job. @pre devices not empty
DeviceResult consensus_of(const RunResult& run, std::span<const std::size_t> devices);

struct GroupDrawing {
  const ComparisonGroup* group;
  std::vector<DrawnFrame> frames;
};
inline constexpr std::size_t most_drawings = 8;  // in a report
/// Drawings of the largest groups, largest first, without empty ones. One for each model, in a
/// sweep that of its first setting.
std::vector<GroupDrawing> draw_groups(const RunResult& run, const FleetAnalysis& analysis);

}  // namespace sonde
