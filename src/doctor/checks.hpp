// The checks of a launch and a machine: one table with two users. `sonde doctor` prints all of it;
// `sonde run` refuses to start with those lines of it that are certain. Pure.
#pragma once

#include "base/enum_text.hpp"
#include "doctor/facts.hpp"

#include <span>
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
  std::string name{};  // "driver", "gpu0.power"
  std::string line{};  // "<problem> (<why it matters>) -> <what to do>"; "" if all is well
};
using Checks = std::vector<Check>;

/// The facts that a check reads: a process that has read them can make it.
enum class Subject { driver, gpu, host, launch, mpi, folder };

/// What it means if a check has a line.
enum class CheckSeverity {
  refuses,              // a run is certain to fail or to measure something else: it does not start
  fails,                // the same, but only likely, or known only by a slow look
  fails_unless_shared,  // a warning with --allow-shared-gpu
  warns,
  informs
};

using F = const Facts&;

struct CheckRow {
  Subject subject;
  const char* name;  // of a GPU: the part behind "gpu0."
  CheckSeverity severity;
  /// "" if all is well. @throws std::bad_optional_access if the system does not say
  std::string (*judge)(F);
};

/// The table: of driver, machine, launch and folder, and of a GPU.
std::span<const CheckRow> host_rows();
std::span<const CheckRow> gpu_rows();

/// All checks of a subject, in the order of the table.
Checks judge(Subject subject, const Facts& facts);

/// The first line of a subject with which `sonde run` refuses to start; "" if it may start.
std::string why_run_is_refused(Subject subject, const Facts& facts);

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
