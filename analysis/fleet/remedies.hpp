// What an operator can do about a GPU in trouble, and the meaning of Xid errors of the NVIDIA
// driver. Both come from docs/remedies.md, which is built into the program.
#pragma once

#include "analysis/fleet/charge.hpp"
#include "base/embedded_file.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// docs/remedies.md as the only file.
std::span<const EmbeddedFile> remedy_page();

/// Commands to paste on the node, and actions, in order. The first command only checks the trouble
/// and changes nothing. Commands for one GPU contain its UUID, quoted for the shell.
std::vector<std::string> remedies(Trouble trouble, std::string_view uuid);

/// One code. The severity follows from the first action in NVIDIA's catalogue:
/// - fail: a reset, a reboot, a power cycle or hardware work before the GPU is used again
/// - warn: nothing, or a restart of the program, plus a check of the GPU or a report to NVIDIA
/// - info: the program is at fault
struct XidMeaning {
  std::string_view text;  // as in "Xid 79: GPU has fallen off the bus"
  Severity severity = Severity::warn;
  std::string_view remedy;  // one to three sentences
};

/// The meaning of a code; for a code that the page does not have, a warning.
XidMeaning meaning_of_xid(int code);

}  // namespace sonde
