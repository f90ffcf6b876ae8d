// The only file that includes CLI11. It binds the flags of each command to the command's options;
// the options of `run` may also come from a TOML file.
#include "commands/commands.hpp"

#include "base/error.hpp"
#include "base/version.hpp"
#include "config/config_file.hpp"
#include "jobs/suite.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <type_traits>

namespace sonde {
namespace {

/// CLI11 would read "-1" as the largest number.
const CLI::Validator digits_only(
    [](std::string& text) -> std::string {
      const bool valid = !text.empty() && std::ranges::all_of(text, [](unsigned char letter) {
        return std::isdigit(letter) != 0;
      });
      return valid ? "" : "must be a whole number of 0 or more, not '" + text + "'";
    },
    "WHOLE");

/// An option whose value is one of the names in a table.
template <class Enum, std::size_t count>
CLI::Option* add_choice(CLI::App& app, const char* flags, Enum& chosen,
                        const EnumName<Enum> (&names)[count], const char* help) {
  return app
      .add_option_function<std::string>(
          flags,
          [&chosen, &names](const std::string& name) { chosen = find_value(names, name).value(); },
          help)
      ->check(CLI::IsMember(list_names(names)));
}

void add_run_file(CLI::App& app, std::string& path) {
  app.add_option("run", path, "the run file")->required();
}

void add_baseline(CLI::App& app, std::string& path) {
  app.add_option("--baseline", path, "an earlier run: what became worse since then counts, too");
}

void add_options(CLI::App& app, RunOptions& options) {
  for_each_run_option(options, [&app](auto& member, const OptionText& option) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const std::string letter = option.letter ? fmt::format("-{},", option.letter) : "";
    const std::string flags = fmt::format("{}--{}", letter, option.name);
    const std::string help(option.help);
    if constexpr (std::is_same_v<Member, bool>) {
      app.add_flag(flags, member, help);
    } else if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
      CLI::Option* added = app.add_option(flags, member, help);
      // An axis holds commas itself, so it must not be split there.
      if (option.role != OptionRole::makes_points) added->delimiter(',');
    } else {
      CLI::Option* added = app.add_option(flags, member, help)->capture_default_str();
      if constexpr (std::is_unsigned_v<Member>) added->check(digits_only);
    }
  });
  app.get_option("--suite")->check(CLI::IsMember(list_names(suite_level_names)));
  app.add_option("--config", "a TOML file with any of these options; the command line wins");
}

void add_options(CLI::App& app, AnalyzeOptions& options) {
  add_run_file(app, options.run);
  add_baseline(app, options.baseline);
  app.add_option("--tolerance", options.tolerances,
                 "how far a metric may deviate before it is a warning, for this analysis: "
                 "METRIC=FRACTION (0.02 is 2 %); repeatable")
      ->allow_extra_args(false);  // the run file may follow
}

void add_options(CLI::App& app, ReportOptions& options) {
  add_run_file(app, options.run);
  add_baseline(app, options.baseline);
  app.add_option("-o,--output", options.output, "the page")->capture_default_str();
  app.add_flag("--force", options.force, "overwrite an existing page");
}

void add_options(CLI::App& app, ExportOptions& options) {
  std::vector<std::string> formats;
  for (const ExportFormat& format : export_formats) formats.emplace_back(format.name);
  add_run_file(app, options.run);
  add_baseline(app, options.baseline);
  app.add_option("--format", options.format, "what to print")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  app.add_flag("--verdicts-only", options.verdicts_only,
               "JSON without jobs and findings of devices: 1 kB for each");
}

void add_options(CLI::App& app, CompareOptions& options) {
  app.add_option("runs", options.runs, "two run files")->required()->expected(2);
  app.add_option("--format", options.format, "what to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

void add_options(CLI::App& app, MergeOptions& options) {
  app.add_option("runs", options.sources, "run files, or the .parts folder of a run")->required();
  app.add_option("-o,--output", options.output, "the merged file")->required();
  app.add_flag("--force", options.force, "overwrite an existing output");
}

void add_options(CLI::App& app, ListOptions& options) {
  add_choice(app, "what", options.topic, list_topic_names, "")->required();
  app.add_option("--backend", options.backend, "backend whose devices are listed")
      ->capture_default_str();
  add_choice(app, "--format", options.format, list_format_names, "table or markdown");
}

void add_options(CLI::App& app, StatusOptions& options) {
  app.add_option("run", options.run, "its output file")->required();
}

void add_options(CLI::App& app, DoctorOptions& options) {
  app.add_option("--backend", options.run.backend, "as for run")->capture_default_str();
  app.add_option("--suite", options.run.suite, "suite to be run")
      ->check(CLI::IsMember(list_names(suite_level_names)))
      ->capture_default_str();
  app.add_option("-o,--output", options.run.output, "the run file to be")->capture_default_str();
  app.add_flag("--allow-shared-gpu", options.run.allow_shared_gpu, "as for run");
}

void check_run_options(const RunOptions& options) {
  check_options(options);
  parse_suite_level(options.suite);
}

/// Takes the options that the command line does not set from the file of --config.
void apply_config_file(const CLI::App& app, RunOptions& options) {
  const CLI::Option* config = app.get_option("--config");
  if (config->count() == 0) return;
  const auto is_chosen = [&app](std::string_view name) {
    return app.get_option(fmt::format("--{}", name))->count() > 0;
  };
  read_config_file(config->as<std::string>(), {.is_chosen = is_chosen, .check = check_run_options},
                   options);
}

template <class Options>
void add_command(CLI::App& app, std::optional<Command>& chosen, const char* name,
                 const char* text) {
  CLI::App* command = app.add_subcommand(name, text);
  const auto options = std::make_shared<Options>();
  add_options(*command, *options);
  command->callback([command, options, &chosen] {
    if constexpr (std::is_same_v<Options, RunOptions>) {
      check_run_options(*options);
      apply_config_file(*command, *options);
    }
    chosen = *options;
  });
}

/// Turns `sonde help run` into `sonde run --help`.
std::vector<const char*> without_help_command(std::vector<const char*> words) {
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

}  // namespace

std::optional<Command> parse_command_line(int argc, const char* const* argv) {
  const std::vector<const char*> words = without_help_command({argv, argv + argc});
  CLI::App app{
      "sonde characterizes the memory hierarchy and cores of every GPU of a cluster.\n"
      "Start it alone, with mpirun, or with srun --mpi=pmix: one rank per GPU.",
      "sonde"};
  app.set_version_flag("-V,--version", std::string("sonde ") + version + " (" + git_revision + ")");
  app.require_subcommand(0, 1);
  std::optional<Command> chosen;
  add_command<RunOptions>(app, chosen, "run", "measure the GPUs and write one run file");
  add_command<AnalyzeOptions>(app, chosen, "analyze", "compare the devices of a run file again");
  add_command<ReportOptions>(app, chosen, "report", "write report.html from a run file");
  add_command<ExportOptions>(app, chosen, "export", "print a run file in another format");
  add_command<CompareOptions>(app, chosen, "compare", "list what differs between two run files");
  add_command<MergeOptions>(app, chosen, "merge", "make one run file of several, or of shards");
  add_command<ListOptions>(app, chosen, "list", "list jobs, metrics, models or devices");
  add_command<StatusOptions>(app, chosen, "status", "show the progress of a run");
  add_command<DoctorOptions>(app, chosen, "doctor",
                             "check in ten seconds whether this machine can measure");
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& success) {
    app.exit(success, std::cout, std::cerr);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(fmt::format("{} (see sonde --help)", error.what()));
  }
  if (!chosen) throw ConfigError("no command given (see sonde --help)");
  return chosen;
}

}  // namespace sonde
