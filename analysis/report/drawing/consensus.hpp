// What most devices of a group say, as one device: what drawings and marks of the page go by.
#pragma once

#include "analysis/fleet/fleet.hpp"
#include "analysis/report/drawing/drawing.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sonde {

/// A device with the findings of the group: of each metric the answer that most devices give (a
/// number, a text, a list, "not present", ...; of a tie the one met first), and of numbers the
/// (lower) median with what was said about it. Inventory, node and rank are those of the first
/// device; all findings stand in one job. @pre devices not empty
DeviceResult consensus_of(const RunResult& run, std::span<const std::size_t> devices);

struct GroupDrawing {
  const ComparisonGroup* group;
  std::vector<DrawnFrame> frames;
};
inline constexpr std::size_t most_drawings = 8;
/// Of the largest groups what most of their devices say, the largest first; none that is empty.
std::vector<GroupDrawing> draw_groups(const RunResult& run, const FleetAnalysis& analysis);

}  // namespace sonde
