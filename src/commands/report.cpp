// `sonde report`: report.html from a run file.
#include "analysis/fleet/reduce.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace sonde {
namespace {

/// Writes under another name first, so that no half page stands in the place of a whole one.
void write_text_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(part, path, error);
  if (file && !error) return;
  const std::string cause = error ? error.message() : std::strerror(errno);
  std::filesystem::remove(part, error);
  throw StoreError(
      fmt::format("cannot write '{}' ({}) choose another place with -o", path.string(), cause));
}

}  // namespace

ExitStatus execute(const ReportOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  const RunResult run = read_run(options.run, WithTraces::no);
  write_text_file(options.output, render_html(run, reduce_fleet(run)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
