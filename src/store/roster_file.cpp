// The roster as a file.
#include "store/roster_file.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sonde {
namespace fs = std::filesystem;

fs::path roster_path(const fs::path& parts) { return parts / "roster.json"; }

void write_roster(const fs::path& parts, const Roster& roster) {
  write_text_file(roster_path(parts), to_json(roster) + '\n');
}

Roster read_roster(const fs::path& parts) {
  const fs::path path = roster_path(parts);
  std::ifstream file(path);
  if (!file) {
    throw StoreError(fmt::format("cannot read '{}' ({}) use 'sonde merge' on the shards",
                                 path.string(), std::strerror(errno)));
  }
  return roster_from_json({std::istreambuf_iterator<char>(file), {}});
}

bool is_file_of(const fs::path& run, const Provenance& provenance) {
  try {
    const Provenance its = RunReader(run).provenance();
    return its.started_utc == provenance.started_utc && its.config_hash == provenance.config_hash &&
           its.command_line == provenance.command_line;
  } catch (const StoreError&) {
    return false;
  }
}

}  // namespace sonde
