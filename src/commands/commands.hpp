// The commands behind main: `run` with MPI, the others on files alone.
#pragma once

#include "commands/measure.hpp"
#include "config/config.hpp"
#include "fleet/mpi_session.hpp"

namespace sonde {

/// Exit statuses, the same for every command.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int error = 1;
inline constexpr int usage = 2;
inline constexpr int incomplete = 3;  // findings missing, or a device lost
inline constexpr int verdict = 4;     // a device failed its verdict
inline constexpr int resumable = 75;  // stopped early; --resume goes on
}  // namespace exit_code

/// What `run` will do, checked before MPI starts so that a typo costs nothing.
/// @throws ConfigError
MeasurePlan plan_run(const Config& config, const std::string& command_line);

/// Measures the GPUs that the ranks of the session see, and writes the run file.
/// @returns an exit status, the same on every rank
int run_fleet(const Config& config, MeasurePlan plan, MpiSession& mpi);

/// Every other command. @returns an exit status. @throws Error
int run_on_files(const Config& config);

}  // namespace sonde
