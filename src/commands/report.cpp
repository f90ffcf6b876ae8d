// `sonde report`: report.html from a run file.
#include "analysis/fleet/reduce.hpp"
#include "analysis/fleet/repeats.hpp"
#include "base/log.hpp"
#include "base/text_file.hpp"
#include "commands/commands.hpp"
#include "store/output.hpp"
#include "store/run_reader.hpp"

namespace sonde {

ExitStatus execute(const ReportOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  const RunResult run = centre_of_repeats(read_run(options.run, WithTraces::no));
  write_text_file(options.output, render_html(run, reduce_fleet(run)));
  log_world("wrote " + options.output);
  return ExitStatus::ok;
}

}  // namespace sonde
