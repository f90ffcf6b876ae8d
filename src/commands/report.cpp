// `sonde report`: report.html from a run file.
#include "base/log.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "commands/fleet_file.hpp"
#include "store/output.hpp"

namespace sonde {

ExitStatus execute(const ReportOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  const auto [run, analysis] = read_fleet(options.run, options.baseline, WithProbes::if_few);
  write_text_file(options.output, render_html(run, analysis));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
