// The drawing of a device: which units it has, where they sit and what is known of each. Only
// metrics of the run stand in it. drawing_svg lays it out.
#pragma once

#include "analysis/report/drawing_facts.hpp"

#include <string>
#include <vector>

namespace sonde {

enum class UnitKind { memory, cache, tlb, core, link };

/// A box.
struct DrawnUnit {
  std::string name = "";
  std::string size = "";  // beside the name: "248 KiB"; "" where it has none or that is not known
  UnitKind kind = UnitKind::cache;
  bool placed = true;  // false: who shares it was not found out
  bool wide = false;   // as wide as its frame, with its facts side by side
  std::vector<DrawnFact> facts = {};
  std::vector<std::size_t> slices = {};  // on each side of the chip
};

/// What all units in it belong to: "SM x 132". Inside it lies the next frame, then its units.
struct DrawnFrame {
  std::string name;
  std::vector<DrawnUnit> units;
};

struct DeviceDrawing {
  std::vector<DrawnFrame> frames;       // outermost first: the device, GPC, TPC, SM
  std::vector<std::string> unresolved;  // units of which it is not known whether they are there
};

/// Units that are absent, were skipped or failed are not drawn; no frames if the device has nothing
/// to draw.
DeviceDrawing draw_device(const DeviceResult& device);

}  // namespace sonde
