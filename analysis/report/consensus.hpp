// What most devices of a group say, as one device: what drawings and marks of the page go by.
#pragma once

#include "analysis/results.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

/// A device with the findings of the group: of each metric the answer that most devices give (a
/// number, a text, a list, "not present", ...; of a tie the one met first), and of numbers the
/// (lower) median with what was said about it. Inventory, node and rank are those of the first
/// device; all findings stand in one job. @pre devices not empty
DeviceResult consensus_of(const RunResult& run, std::span<const std::size_t> devices);
/// The same of one metric; nothing if no device has it.
std::optional<Finding> consensus_of(const RunResult& run, std::span<const std::size_t> devices,
                                    std::string_view metric);

}  // namespace sonde
