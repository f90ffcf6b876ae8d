// The options of `sonde run`. Each stands once in the struct and once in the list below it; the
// command line, --print-config, the provenance and the config hash all use the list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// The most points of a run. A night of 12 hours has 43,200 seconds.
inline constexpr std::uint64_t most_points = 100'000;
/// The most repeats within a time budget: 8 hours with a repeat every 29 s.
inline constexpr std::uint64_t most_filling_repeats = 1000;

/// --help shows the default values of this struct.
struct RunOptions {
  std::string backend = "cuda";
  std::string suite = "standard";
  std::vector<std::string> jobs{};   // empty: all jobs of the suite
  std::vector<std::string> sms{};    // empty: all SMs
  std::vector<std::string> set{};    // options of jobs: "latency.carveout_bytes=65536"
  std::uint64_t repeat = 0;          // 0: once, or as often as the time allows (fills_time_budget)
  std::vector<std::string> sweep{};  // axes: "seed=1:5" (sweep.hpp)
  std::string sweep_mode = "product";
  std::string time_budget{};  // "6h"; empty: none
  std::string output = "sonde-run.h5";
  std::uint64_t seed = 1;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
  bool print_config = false;
  bool allow_shared_gpu = false;  // MIG slices, MPS, other processes on the GPU
  std::uint64_t memory_percent = 100;
  double job_timeout_s = 600;
  double rendezvous_timeout_s = 30;
  double progress_interval_s = 10;
};

/// What an option affects.
enum class OptionRole {
  decides_results,  // with another value, a device must be measured again
  makes_points,     // the number of measurements of each device, and the options that vary
  guides_run,       // kept with the results, which do not depend on it
  asks_instead      // prints something and does not run; kept nowhere
};

/// The texts of an option.
struct OptionText {
  std::string_view name;  // as in --name, and as a key in TOML files
  OptionRole role;
  std::string_view help;
  char letter = '\0';  // of the short form, if any
};

/// The text of --time-budget, which is too long for the list below.
inline constexpr OptionText time_budget_text{
    "time-budget", OptionRole::guides_run,
    "begin no further job after this time (90min, 6h), and stop with status 75: --resume goes on; "
    "the suite full is repeated until then, and ends with the repeats that are whole"};

/// Calls `visit(pointer to member, OptionText)` for every option of a run, in the order of --help.
template <class Visit>
void for_each_option(const Visit& visit) {
  using enum OptionRole;
  visit(&RunOptions::backend,
        OptionText{"backend", decides_results,
                   "cuda, or sim:MODEL[,MODEL...]: simulated GPUs, dealt to the ranks in order; "
                   "MODEL is a shipped name or a JSON file, with +fault=value to break it"});
  visit(&RunOptions::suite, OptionText{"suite", decides_results, "how much to measure"});
  visit(&RunOptions::jobs,
        OptionText{"jobs", decides_results, "only these jobs (and what they build on), by comma"});
  visit(&RunOptions::sms,
        OptionText{"sms", decides_results,
                   "measure with these SMs alone, by comma: 17, or 17,20-23 (one, a TPC, a pair); "
                   "jobs that look at all SMs are left out"});
  visit(
      &RunOptions::set,
      OptionText{"set", decides_results,
                 "options of jobs, by comma: latency.carveout_bytes=64KiB (see sonde list jobs)"});
  visit(&RunOptions::repeat,
        OptionText{
            "repeat", makes_points,
            "how often to measure everything, each time with other random choices; 0: once, or, "
            "where the suite full has a time budget, as often as fits into it"});
  visit(&RunOptions::sweep,
        OptionText{"sweep", makes_points,
                   "measure with each of these values: OPTION=1,2,4 or FROM:TO:STEP or "
                   "FROM:TO:*FACTOR; OPTION is one of these, or JOB.OPTION as in --set"});
  visit(&RunOptions::sweep_mode,
        OptionText{"sweep-mode", makes_points,
                   "product: all combinations of the swept values; zip: the first of each, the "
                   "second of each, ..."});
  visit(&RunOptions::output, OptionText{"output", guides_run, "the run file", 'o'});
  visit(&RunOptions::seed, OptionText{"seed", decides_results, "seed of all random choices"});
  visit(&RunOptions::resume,
        OptionText{"resume", guides_run, "keep what an interrupted run has already measured"});
  visit(&RunOptions::force, OptionText{"force", guides_run, "overwrite an existing output"});
  visit(&RunOptions::dry_run,
        OptionText{"dry-run", asks_instead, "print which jobs would run on which GPUs, and stop"});
  visit(&RunOptions::print_config,
        OptionText{"print-config", asks_instead,
                   "print the resolved options as a TOML file for --config, and stop"});
  visit(&RunOptions::allow_shared_gpu,
        OptionText{"allow-shared-gpu", guides_run,
                   "measure although MIG, MPS or another process shares the GPU"});
  visit(&RunOptions::memory_percent,
        OptionText{"memory-percent", decides_results,
                   "of a GPU's free memory, how much to take: measurements are repeated at other "
                   "places of it"});
  visit(&RunOptions::job_timeout_s,
        OptionText{"job-timeout-s", guides_run,
                   "a job that takes longer is ended and counts as failed"});
  visit(&RunOptions::time_budget, time_budget_text);
  visit(&RunOptions::rendezvous_timeout_s,
        OptionText{"rendezvous-timeout-s", guides_run,
                   "how long to wait for a rank that gives no sign of life, in any stage"});
  visit(&RunOptions::progress_interval_s,
        OptionText{"progress-interval-s", guides_run, "time between progress lines on stderr"});
}

/// The same with `visit(member of options, OptionText)`.
template <class Options, class Visit>
void for_each_run_option(Options& options, const Visit& visit) {
  for_each_option([&](auto member, const OptionText& text) { visit(options.*member, text); });
}

/// Checks the ranges of numbers, and texts that hold numbers. @throws ConfigError with the option
void check_options(const RunOptions& options);

/// The options as a TOML file; --config reads the same options back from it.
/// @throws ConfigError if a text is not valid UTF-8, which TOML requires
std::string to_toml(const RunOptions& options);

/// The options as JSON for the provenance. Bytes that are not UTF-8 are written as \xf6.
std::string to_json(const RunOptions& options);

/// Lists the options that decide the results or the points and differ between two such JSON texts:
/// "--suite quick, not standard; --memory-percent 50, not 100" (`one`, not `other`).
/// @param except names of options that may differ
std::string describe_difference(const std::string& one, const std::string& other,
                                std::span<const std::string_view> except = {});

/// Hash of sonde's version and the options that decide the results. A device that was measured
/// under the same hash need not be measured again.
/// @param repeat_index number of the repeat; repeat 0 has the hash of a run without repeats
std::string hash_options(const RunOptions& options, std::uint64_t repeat_index = 0);

/// True if the run repeats its points until the time budget is over and keeps the complete ones:
/// the suite is full, there is a time budget, and no number of repeats was given.
bool fills_time_budget(const RunOptions& options);

/// The time budget in seconds; nothing if there is none. @throws ConfigError
std::optional<double> time_budget_s(const RunOptions& options);

}  // namespace sonde
