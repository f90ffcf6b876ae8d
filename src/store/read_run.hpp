// Reading a run file back.
#pragma once

#include "analysis/results.hpp"
#include "store/shard.hpp"

#include <filesystem>

namespace sonde {

/// A whole run. Without traces the probes are there, but their lanes hold no recorded values.
/// @throws StoreError if it is no run file, of another schema version, truncated or damaged
RunResult read_run(const std::filesystem::path& path, WithTraces traces);

}  // namespace sonde
