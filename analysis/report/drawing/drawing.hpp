// The drawing of a device: which units it has, where they sit and what is known of each. Only
// metrics of the run stand in it.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// One thing that is known of a unit: a row of its box.
struct DrawnFact {
  std::string label = "";   // "sets x ways"
  std::string text = "";    // "512 x 4", "64 x ?" if only a part was found out
  std::string remark = "";  // metrics behind it and why they have no value: shown under the pointer
  double confidence = 0;    // the lowest of the metrics behind it
};

/// A box.
struct DrawnUnit {
  std::string name = "";
  std::string size = "";  // beside the name: "248 KiB"; "" where it has none or that is not known
  std::string_view kind = "";  // "cache", "tlb", "core", "memory" or "link"
  bool placed = true;          // false: who shares it was not found out
  bool wide = false;           // as wide as its frame, with its facts side by side
  std::vector<DrawnFact> facts = {};
};

/// What all units in it belong to: "132 SMs". Inside it lies the next frame, then its units.
struct DrawnFrame {
  std::string name;
  std::vector<DrawnUnit> units;
};

/// Three significant digits and a unit that suits: "4.68 TB/s", "281 cycles".
std::string short_quantity(double value, std::string_view unit);

/// Outermost first: the device, GPC, TPC, SM. Only what was found out is drawn; empty if that is
/// nothing.
std::vector<DrawnFrame> draw_device(const DeviceResult& device);

}  // namespace sonde
