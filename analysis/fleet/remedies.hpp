// What an operator does about a GPU in trouble: one table, by what is broken. docs/remedies.md
// shows it to people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What a remedy is chosen by: what is broken, not which metric showed it.
enum class Trouble {
  contention,
  lost,
  hang,
  sticky_error,
  wrong_data,
  ecc_uncorrected,
  ecc_corrected,
  remap_pending,
  remap_failure,
  xid,
  clock,
  thermal,
  power,
  pcie_link,
  nvlink,
  host_rate,
  peer_rate,
  memory_rate,
  slice,
  sm,
  structure,
  fewer_gpus,
  drift,
  unknown
};

/// Commands to paste on the node, and acts, in order. First comes a command that checks the trouble
/// and changes nothing. Commands for one GPU name it by its UUID, quoted for the shell.
std::vector<std::string> remedies(Trouble trouble, std::string_view uuid);

}  // namespace sonde
