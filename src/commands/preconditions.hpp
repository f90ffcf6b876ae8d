// Where `sonde run` refuses to start, with the line that `sonde doctor` has for it: only what is
// certain to fail, or to measure something else, and can be seen at once.
#pragma once

#include <filesystem>
#include <string>

namespace sonde {

/// To be called before MPI starts, which may end the process: what `sonde doctor` warns of in the
/// launch; "" if all is well.
std::string note_on_launch();

/// To be called when MPI has started. @param ranks that MPI knows
/// @throws ConfigError if the launcher started more processes than MPI knows, and this one is alone
/// in MPI: it waits for nobody, and nobody for it
void check_launch(int ranks);

/// To be called on one rank. @throws StoreError if results cannot be written there
void check_folder_of(const std::filesystem::path& output);

}  // namespace sonde
