// `sonde status`: how far the ranks of a running run are, from their progress files.
#include "commands/commands.hpp"
#include "fleet/progress.hpp"
#include "store/output.hpp"

#include <iostream>

namespace sonde {

ExitStatus execute(const StatusOptions& options) {
  std::cout << describe_progress(parts_folder(options.run));
  return ExitStatus::ok;
}

}  // namespace sonde
