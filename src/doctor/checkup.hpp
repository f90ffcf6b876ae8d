// What `sonde doctor` finds: one check is one line, for a person, a log or a pipe.
#pragma once

#include "base/enum_text.hpp"

#include <string>
#include <vector>

namespace sonde {

/// A machine with a `fail` cannot measure, or would measure something else than its GPUs.
enum class CheckVerdict { ok, warn, fail, skipped };
inline constexpr EnumName<CheckVerdict> check_verdict_names[]{{CheckVerdict::ok, "ok"},
                                                              {CheckVerdict::warn, "warn"},
                                                              {CheckVerdict::fail, "fail"},
                                                              {CheckVerdict::skipped, "skipped"}};

struct Check {
  CheckVerdict verdict = CheckVerdict::ok;
  std::string name{};    // "driver", "gpu0.power": no spaces
  std::string found{};   // of `skipped`: why it was not looked at
  std::string advice{};  // what to do; may be empty if all is well
};
using Checks = std::vector<Check>;

void append(Checks& checks, Checks more);

bool has_failure(const Checks& checks);

/// A line each, in columns, and a summary. `speaker` stands before every line; may be empty.
std::string render_checks(const Checks& checks, const std::string& speaker);

/// One JSON object on one line: host, can_measure, and the checks.
std::string render_checks_json(const Checks& checks, const std::string& host);

/// As JSON, between processes.
std::string to_json(const Checks& checks);
/// @throws Error if the text is not what to_json gave
Checks checks_from_json(const std::string& text);

}  // namespace sonde
