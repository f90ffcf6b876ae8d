// What a person asked for: one plain struct, filled from the command line and a TOML file by
// parse_command_line, which is the only code that knows CLI11.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

enum class Command { run, analyze, report, export_results, compare, merge, list, status };

/// Everything that decides what a run does. Defaults are the ones that --help shows.
struct Config {
  Command command = Command::run;

  // run
  std::string backend = "cuda";
  std::string suite = "standard";
  std::vector<std::string> jobs;  // empty: all of the suite
  std::string output = "sonde-run.h5";
  std::uint64_t seed = 1;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
  bool print_config = false;
  bool allow_shared_gpu = false;      // MIG slices, MPS, other processes on the GPU
  double job_timeout_s = 600;         // a job that takes longer ends the measuring of its GPU
  double rendezvous_timeout_s = 900;  // how long rank 0 waits for the others after its own end
  double progress_interval_s = 10;

  // the other commands
  std::vector<std::string> inputs;
  std::string format = "table";
  std::string list_what = "jobs";
  std::string baseline;
};

/// @param argv as main got it
/// @returns the config, or nothing when help or a version was printed to stdout
/// @throws ConfigError with the parser's message for bad usage, unknown keys, bad values
std::optional<Config> parse_command_line(int argc, const char* const* argv);

/// The resolved run options as a TOML file that --config reads back to the same Config.
std::string print_config(const Config& config);

/// The resolved config as JSON text, for the provenance.
std::string describe_config(const Config& config);

/// Hash of the options that decide the results (backend, suite, jobs, seed, sonde's version), not
/// of paths and time limits: a device measured under the same hash need not be measured again.
std::string hash_config(const Config& config);

}  // namespace sonde
