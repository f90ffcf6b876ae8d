// The drawing of a device: its units, their places and known facts, all from metrics of the run.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// A known fact of a unit: a row of its box.
struct DrawnFact {
  std::string label = "";   // "sets x ways"
  std::string text = "";    // "512 x 4", "64 x ?" if only a part was found out
  std::string remark = "";  // metrics behind it and why they have no value: shown under the pointer
  double confidence = 0;    // the lowest of the metrics behind it
};

/// A box.
struct DrawnUnit {
  std::string name = "";
  std::string size = "";       // next to the name: "248 KiB"; "" if there is none or it is unknown
  std::string_view kind = "";  // "cache", "tlb", "core", "memory" or "link"
  bool placed = true;          // false: the sharing SMs are unknown
  bool wide = false;           // as wide as the frame, with facts side by side
  std::vector<DrawnFact> facts = {};
};

/// The owner of all units in it: "132 SMs". It contains its units, then the next frame.
struct DrawnFrame {
  std::string name;
  std::vector<DrawnUnit> units;
};

/// In a unit that suits: "4.68 TB/s", "281 cycles". Three significant digits, or a whole number.
std::string short_quantity(double value, std::string_view unit);
/// "40 GB/s to 43 GB/s"; one of them if both read the same.
std::string short_range(double low, double high, std::string_view unit);

/// Outermost first: the device, GPC, TPC, SM. Only what was found out is drawn; empty if that is
/// nothing.
std::vector<DrawnFrame> draw_device(const DeviceResult& device);

/// A device with the findings of a group, for drawings and marks of the page: for each metric the
/// kind of answer that most devices give (a number, a text, a list, "not present", ...; on a tie
/// the first); for numbers the finding with the lower median. Inventory, node and rank are those of
/// the first device. All findings are in one job. @pre devices not empty
DeviceResult consensus_of(const RunResult& run, std::span<const std::size_t> devices);

}  // namespace sonde
