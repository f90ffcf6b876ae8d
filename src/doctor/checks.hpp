// One line of `sonde doctor`. machine.hpp and gpus.hpp make the lines; `sonde run` refuses to start
// with some of them.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// A machine with a `fail` cannot measure, or would measure something else than its GPUs.
enum class CheckVerdict { ok, warn, fail, skipped };

struct Check {
  CheckVerdict verdict = CheckVerdict::ok;
  std::string name{};  // "driver", "gpu0.power"
  std::string line{};  // "<problem> (<why it matters>) -> <what to do>"; "" if all is well
};
using Checks = std::vector<Check>;

/// All is well, or, if the condition is bad, this verdict with this line.
inline Check check(const char* name, bool bad, CheckVerdict verdict, const std::string& line) {
  return bad ? Check{verdict, name, line} : Check{.name = name};
}

/// The line of the first check that failed; "" if none did.
std::string first_failure(const Checks& checks);

/// A line each, in columns: verdict, name, line.
std::string render_checks(const Checks& checks);

}  // namespace sonde
