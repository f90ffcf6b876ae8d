// `sonde report`: report.html from a run file.
#include "analysis/fleet/reduce.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace sonde {
namespace {

/// Writes under another name first, so that no half page stands in the place of a whole one.
void write_text_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    std::filesystem::remove(part);
    throw StoreError(fmt::format("cannot write {} (is the folder there, writable and not full?)",
                                 path.string()));
  }
  std::filesystem::rename(part, path);
}

}  // namespace

ExitStatus execute(const ReportOptions& options) {
  if (!options.force) refuse_existing(options.output);
  const RunResult run = read_run(options.run, WithTraces::no);
  write_text_file(options.output, render_html(run, reduce_fleet(run)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
