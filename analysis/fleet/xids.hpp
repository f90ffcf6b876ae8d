// What an Xid error of the NVIDIA driver says of the GPU: who is at fault, whether the GPU may
// still be used, and what the operator does. docs/remedies.md shows the same table to people.
#pragma once

#include "analysis/fleet/fleet.hpp"

#include <span>
#include <string_view>

namespace sonde {

/// Who is at fault. `link`: PCIe, NVLink or the link to the CPU. `driver`: the driver or its
/// firmware.
enum class XidBlame { gpu, memory, link, program, driver };

/// One code. The severity follows from what NVIDIA's catalogue asks for first:
/// - fail: a reset, a reboot, a power cycle or work on the hardware, before the GPU is used again
/// - warn: nothing, or a new start of the program, but a look at the GPU or a report to NVIDIA
/// - info: the program is at fault
struct XidMeaning {
  int code = 0;
  std::string_view text;  // as in "Xid 79: GPU has fallen off the bus"
  XidBlame blame = XidBlame::gpu;
  Severity severity = Severity::warn;
  std::string_view remedy;  // one to three sentences
};

/// The meaning of any code. A code that all_xids() does not hold gives a warning with code 0.
const XidMeaning& meaning_of_xid(int code);

/// All codes that are known, ascending.
std::span<const XidMeaning> all_xids();

}  // namespace sonde
