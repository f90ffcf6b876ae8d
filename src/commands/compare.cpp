// `sonde compare`: what changed between two run files.
#include "commands/commands.hpp"
#include "store/run_reader.hpp"

#include <iostream>

namespace sonde {

ExitStatus execute(const CompareOptions& options) {
  const RunResult before = read_run(options.runs.at(0), WithTraces::no);
  const RunResult after = read_run(options.runs.at(1), WithTraces::no);
  std::cout << render_comparison(compare_runs(before, after));
  return ExitStatus::ok;
}

}  // namespace sonde
