// Reads the facts of the rows that refuse a run.
#include "commands/preconditions.hpp"

#include "base/error.hpp"
#include "doctor/checks.hpp"

namespace sonde {

std::string note_on_launch() {
  for (const Check& check : judge(Subject::launch, {.launch = read_launch()})) {
    if (check.verdict == CheckVerdict::warn) return check.line;
  }
  return "";
}

void check_launch(int ranks) {
  const std::string why =
      why_run_is_refused(Subject::mpi, {.launch = read_launch(), .mpi = {.ranks = ranks}});
  if (!why.empty()) throw ConfigError(why);
}

void check_folder_of(const std::filesystem::path& output) {
  const std::string why =
      why_run_is_refused(Subject::folder, {.folder = read_folder(folder_of(output))});
  if (!why.empty()) throw StoreError(why);
}

}  // namespace sonde
