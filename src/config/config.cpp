// The one file that includes CLI11: flags and TOML keys bound to the same fields of Config.
#include "config/config.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>

namespace sonde {
namespace {

const CLI::Validator positive_seconds(
    [](std::string& text) -> std::string {
      double value = 0;
      if (!CLI::detail::lexical_cast(text, value) || !(value > 0) || !std::isfinite(value)) {
        return "must be a positive number of seconds, not '" + text + "'";
      }
      return {};
    },
    "SECONDS");

void add_run_options(CLI::App& app, Config& config) {
  app.add_option(
         "--backend", config.backend,
         "cuda, or sim:MODEL[,MODEL...]: simulated GPUs, dealt to the ranks in order; MODEL "
         "is a shipped name or a JSON file, with +fault=value to break it")
      ->capture_default_str();
  app.add_option("--suite", config.suite, "how much to measure")
      ->check(CLI::IsMember({"quick", "standard", "full"}))
      ->capture_default_str();
  app.add_option("--jobs", config.jobs, "only these jobs (and what they build on), by comma")
      ->delimiter(',');
  app.add_option("-o,--output", config.output, "the run file")->capture_default_str();
  app.add_option("--seed", config.seed, "seed of all random choices")->capture_default_str();
  app.add_flag("--resume", config.resume, "keep what an interrupted run has already measured");
  app.add_flag("--force", config.force, "overwrite an existing output");
  app.add_flag("--dry-run", config.dry_run, "print which jobs would run on which GPUs, and stop");
  app.add_flag("--print-config", config.print_config,
               "print the resolved options as a TOML file for --config, and stop");
  app.add_flag("--allow-shared-gpu", config.allow_shared_gpu,
               "measure although MIG, MPS or another process shares the GPU");
  app.add_option("--job-timeout-s", config.job_timeout_s,
                 "a job that takes longer ends the measuring of its GPU")
      ->check(positive_seconds)
      ->capture_default_str();
  app.add_option("--rendezvous-timeout-s", config.rendezvous_timeout_s,
                 "how long to wait for ranks that are still measuring when the first is done")
      ->check(positive_seconds)
      ->capture_default_str();
  app.add_option("--progress-interval-s", config.progress_interval_s,
                 "time between progress lines on stderr")
      ->check(positive_seconds)
      ->capture_default_str();
  app.add_option("--config", "a TOML file with any of these options; the command line wins");
}

/// Fills options that the command line left open from a TOML file. CLI11 2.1 reads files only for
/// the outermost command, hence by hand; every key must be an option.
void apply_config_file(CLI::App& app) {
  const auto* option = app.get_option("--config");
  if (option->count() == 0) return;
  const std::string path = option->as<std::string>();
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_file(path)) {
    CLI::Option* target =
        item.parents.empty() ? app.get_option_no_throw("--" + item.name) : nullptr;
    if (target == nullptr || target == option) {
      throw ConfigError(
          fmt::format("unknown key '{}' in {} (a typo would change the run unnoticed) "
                      "see sonde run --help for the keys",
                      item.fullname(), path));
    }
    if (target->count() > 0) continue;
    if (target->get_expected_max() == 0) {
      target->add_result(target->get_flag_value(item.name, item.inputs.at(0)));
    } else {
      target->add_result(item.inputs);
    }
    target->run_callback();
  }
}

void add_commands(CLI::App& app, Config& config) {
  const auto subcommand = [&](const char* name, const char* text, Command command) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->callback([&config, command] { config.command = command; });
    return sub;
  };
  add_run_options(*subcommand("run", "measure the GPUs and write one run file", Command::run),
                  config);

  CLI::App* analyze =
      subcommand("analyze", "compare the devices of a run file again", Command::analyze);
  analyze->add_option("run", config.inputs, "the run file")->required()->expected(1);
  analyze->add_option("--baseline", config.baseline, "an earlier run to compare with");

  CLI::App* report = subcommand("report", "write report.html from a run file", Command::report);
  report->add_option("run", config.inputs, "the run file")->required()->expected(1);
  report->add_option("-o,--output", config.output, "the page")->default_str("report.html");
  report->add_flag("--force", config.force, "overwrite an existing page");

  CLI::App* exporter =
      subcommand("export", "print a run file in another format", Command::export_results);
  exporter->add_option("run", config.inputs, "the run file")->required()->expected(1);
  exporter->add_option("--format", config.format, "what to print")
      ->check(CLI::IsMember({"table", "json", "csv", "markdown", "prometheus", "junit"}))
      ->default_str("json");

  CLI::App* compare =
      subcommand("compare", "list what differs between two run files", Command::compare);
  compare->add_option("runs", config.inputs, "two run files")->required()->expected(2);

  CLI::App* merge =
      subcommand("merge", "make one run file of several, or of shards", Command::merge);
  merge->add_option("runs", config.inputs, "run files, or the .parts folder of a run")->required();
  merge->add_option("-o,--output", config.output, "the merged file")->required();
  merge->add_flag("--force", config.force, "overwrite an existing output");

  CLI::App* list = subcommand("list", "print what there is", Command::list);
  list->add_option("what", config.list_what, "")
      ->check(CLI::IsMember({"jobs", "metrics", "models", "devices"}))
      ->required();
  list->add_option("--backend", config.backend, "whose devices")->capture_default_str();
  list->add_option("--format", config.format, "table or markdown")
      ->check(CLI::IsMember({"table", "markdown"}));

  CLI::App* status = subcommand("status", "how far a running run is", Command::status);
  status->add_option("run", config.inputs, "its output file")->required()->expected(1);
}

}  // namespace

std::optional<Config> parse_command_line(int argc, const char* const* argv) {
  Config config;
  CLI::App app{
      "sonde characterizes the memory hierarchy and cores of every GPU of a cluster.\n"
      "Start it alone, with mpirun, or with srun --mpi=pmix: one rank per GPU.",
      "sonde"};
  app.set_version_flag("--version", std::string("sonde ") + version + " (" + git_revision + ")");
  app.require_subcommand(0, 1);
  add_commands(app, config);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw ConfigError("no command given (see sonde --help)");
    if (app.got_subcommand("run")) apply_config_file(*app.get_subcommand("run"));
  } catch (const CLI::Success& success) {
    app.exit(success, std::cout, std::cerr);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(std::string(error.what()) + " (see sonde --help)");
  }
  // Two commands share the field with `run`, with their own defaults.
  if (app.got_subcommand("report") && app.get_subcommand("report")->count("--output") == 0) {
    config.output = "report.html";
  }
  if (app.got_subcommand("export") && app.get_subcommand("export")->count("--format") == 0) {
    config.format = "json";
  }
  return config;
}

std::string print_config(const Config& config) {
  std::string text = fmt::format(
      "backend = \"{}\"\nsuite = \"{}\"\noutput = \"{}\"\nseed = {}\nresume = {}\nforce = {}\n"
      "allow-shared-gpu = {}\njob-timeout-s = {}\nrendezvous-timeout-s = {}\n"
      "progress-interval-s = {}\n",
      config.backend, config.suite, config.output, config.seed, config.resume, config.force,
      config.allow_shared_gpu, config.job_timeout_s, config.rendezvous_timeout_s,
      config.progress_interval_s);
  if (!config.jobs.empty()) {
    text += fmt::format("jobs = [\"{}\"]\n", fmt::join(config.jobs, "\", \""));
  }
  return text;
}

std::string describe_config(const Config& config) {
  return nlohmann::ordered_json{{"backend", config.backend},
                                {"suite", config.suite},
                                {"jobs", config.jobs},
                                {"output", config.output},
                                {"seed", config.seed},
                                {"resume", config.resume},
                                {"force", config.force},
                                {"allow_shared_gpu", config.allow_shared_gpu},
                                {"job_timeout_s", config.job_timeout_s},
                                {"rendezvous_timeout_s", config.rendezvous_timeout_s},
                                {"progress_interval_s", config.progress_interval_s}}
      .dump();
}

std::string hash_config(const Config& config) {
  const std::string decides = nlohmann::ordered_json{
      {"version", version},
      {"backend", config.backend},
      {"suite", config.suite},
      {"jobs", config.jobs},
      {"seed", config.seed}}.dump();
  return fmt::format("{:016x}", derive_seed(0, decides));
}

}  // namespace sonde
