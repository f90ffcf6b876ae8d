// The checks of `sonde doctor`. machine.hpp and gpus.hpp make them; `sonde run` makes some, too.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// `fail`: the machine cannot measure, or would measure something else than its GPUs.
enum class CheckVerdict { ok, warn, fail, skipped };

/// One line of `sonde doctor`.
struct Check {
  CheckVerdict verdict = CheckVerdict::ok;
  std::string name{};  // "driver", "gpu0.power"
  std::string line{};  // "<problem> (<why it matters>) -> <what to do>"; "" if there is no problem
};
using Checks = std::vector<Check>;

/// A check with this verdict and line if the condition is bad, else `ok`.
inline Check check(const char* name, bool bad, CheckVerdict verdict, const std::string& line) {
  return bad ? Check{verdict, name, line} : Check{.name = name};
}

/// The line of the first check that failed; "" if none did.
std::string first_failure(const Checks& checks);

/// One line for each check, in columns: verdict, name, line.
std::string render_checks(const Checks& checks);

}  // namespace sonde
