// One of several ranks does something that only one may do, when they can no longer talk to each
// other: by files in the folder that all of them see.
#pragma once

#include "base/exit_status.hpp"
#include "fleet/rendezvous.hpp"

#include <filesystem>
#include <functional>

namespace sonde {

/// Calls `work` on one of the ranks that call this; the others wait for its result. If the one that
/// works shows no sign of life for `silence_s`, another takes over.
/// @param work on the rank that got it; must show life itself
/// @returns on all ranks the status that `work` came to
ExitStatus do_once(const std::filesystem::path& parts, int rank,
                   const std::function<ExitStatus()>& work, const Patience& patience,
                   const Lookout& lookout);

/// Removes the traces of an earlier run's do_once. By rank 0, before any rank works.
void clear_claims(const std::filesystem::path& parts);

}  // namespace sonde
