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

int status_of(const Error& error) {
  return dynamic_cast<const ConfigError*>(&error) ? exit_code::usage : exit_code::error;
}

int complain(const Error& error) {
  if (speaks_for_all()) std::cerr << "sonde: " << error.what() << "\n";
  return status_of(error);
}

/// The session encloses the try: an abort in the catch ends ranks that wait in MPI. Errors that all
/// ranks agreed on need none, and neither does a rank that is alone (docs/running.md).
int run_with_mpi(const Config& config, int argc, char** argv) {
  MeasurePlan plan = plan_run(config, fmt::format("{}", fmt::join(argv, argv + argc, " ")));
  prepare_store();
  MpiSession mpi(argc, argv);
  try {
    return run_fleet(config, std::move(plan), mpi);
  } catch (const AgreedError& error) {
    log_world(error.what());
    return exit_code::error;
  } catch (const std::exception& error) {
    log_local(error.what());
    const auto* known = dynamic_cast<const Error*>(&error);
    const int status = known ? status_of(*known) : exit_code::error;
    if (mpi.size() == 1) return status;
    mpi.abort(status);
  }
}

}  // namespace
}  // namespace sonde

int main(int argc, char** argv) {
  using namespace sonde;
  try {
    const std::optional<Config> config = parse_command_line(argc, argv);
    if (!config) return exit_code::ok;
    if (config->print_config) {
      std::cout << print_config(*config);
      return exit_code::ok;
    }
    return config->command == Command::run ? run_with_mpi(*config, argc, argv)
                                           : run_on_files(*config);
  } catch (const Error& error) {
    return complain(error);
  }
}
