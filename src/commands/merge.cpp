// `sonde merge`: makes one run file of several and analyses it.
#include "store/merge.hpp"

#include "analysis/fleet/verdict/reduce.hpp"
#include "base/log.hpp"
#include "commands/commands.hpp"
#include "store/output.hpp"

namespace sonde {

ExitStatus execute(const MergeOptions& options) {
  check_target(options.output, options.force ? Existing::replace : Existing::refuse);
  for (const std::string& note :
       merge_runs({options.sources.begin(), options.sources.end()}, options.output)) {
    log_world(note);
  }
  const ExitStatus status = exit_status(analyze_run(options.output));
  log_world("wrote " + options.output);
  return status;
}

}  // namespace sonde
