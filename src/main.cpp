// sonde: read this, then jobs/suite.cpp, then one job, and you have seen the whole program.
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "store/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <iostream>

namespace sonde {
namespace {

/// Ranks share a command line: only the first complains about it. Before MPI runs, the launcher's
/// variables are the only way to know (Open MPI, PMIx, Slurm).
bool speaks_for_all() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

ExitStatus status_of(const std::exception& error) {
  return dynamic_cast<const ConfigError*>(&error) ? ExitStatus::usage : ExitStatus::error;
}

/// The session encloses the try: an abort in the catch ends ranks that wait in MPI. Errors that all
/// ranks agreed on need none, and neither does a rank that is alone (docs/running.md).
ExitStatus run_with_mpi(const RunOptions& options, int argc, char** argv) {
  MeasurePlan plan = plan_run(options, fmt::format("{}", fmt::join(argv, argv + argc, " ")));
  prepare_store();
  MpiSession mpi(argc, argv);
  try {
    return run_fleet(std::move(plan), mpi);
  } catch (const AgreedError& error) {
    log_world(error.what());
    return ExitStatus::error;
  } catch (const std::exception& error) {
    log_local(error.what());
    if (mpi.size() == 1) return status_of(error);
    mpi.abort(status_of(error));
  }
}

ExitStatus run_command(int argc, char** argv) {
  const std::optional<Command> command = parse_command_line(argc, argv);
  if (!command) return ExitStatus::ok;  // help
  if (const auto* options = std::get_if<RunOptions>(&*command)) {
    if (!options->print_config) return run_with_mpi(*options, argc, argv);
    std::cout << to_toml(*options);
    return ExitStatus::ok;
  }
  prepare_store();
  return std::visit([](const auto& options) { return execute(options); },
                    std::get<FileCommand>(*command));
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  try {
    return static_cast<int>(sonde::run_command(argc, argv));
  } catch (const sonde::Error& error) {
    if (sonde::speaks_for_all()) sonde::log_local(error.what());
    return static_cast<int>(sonde::status_of(error));
  }
}
