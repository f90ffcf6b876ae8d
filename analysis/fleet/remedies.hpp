// What an operator does about a GPU in trouble, and what an Xid error of the NVIDIA driver says of
// it: who may still use it. Both are read from docs/remedies.md, which is built into the program.
#pragma once

#include "analysis/fleet/charge.hpp"
#include "base/embedded_file.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// docs/remedies.md.
std::span<const EmbeddedFile> remedy_page();

/// Commands to paste on the node, and acts, in order. First comes a command that checks the trouble
/// and changes nothing. Commands for one GPU name it by its UUID, quoted for the shell.
std::vector<std::string> remedies(Trouble trouble, std::string_view uuid);

/// One code. The severity follows from what NVIDIA's catalogue asks for first:
/// - fail: a reset, a reboot, a power cycle or work on the hardware, before the GPU is used again
/// - warn: nothing, or a new start of the program, but a look at the GPU or a report to NVIDIA
/// - info: the program is at fault
struct XidMeaning {
  std::string_view text;  // as in "Xid 79: GPU has fallen off the bus"
  Severity severity = Severity::warn;
  std::string_view remedy;  // one to three sentences
};

/// The meaning of any code; a warning for one that the page does not have.
XidMeaning meaning_of_xid(int code);

}  // namespace sonde
