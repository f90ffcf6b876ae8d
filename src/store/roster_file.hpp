// `<parts>/roster.json`: what a run set out to do, so that whoever is left can build its file.
#pragma once

#include "store/run_header.hpp"

#include <filesystem>

namespace sonde {

std::filesystem::path roster_path(const std::filesystem::path& parts);

/// @throws StoreError
void write_roster(const std::filesystem::path& parts, const Roster& roster);

/// @throws StoreError if it is not there, or no roster
Roster read_roster(const std::filesystem::path& parts);

/// Whether that run file is there and was written by the run of this provenance.
bool is_file_of(const std::filesystem::path& run, const Provenance& provenance);

}  // namespace sonde
