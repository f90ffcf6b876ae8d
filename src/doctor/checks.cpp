// Evaluates the table of checks, and shows its lines as text and as JSON.
#include "doctor/checks.hpp"

#include "base/version.hpp"
#include "base/visible_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {

// The JSON library finds these by name.
NLOHMANN_JSON_SERIALIZE_ENUM(CheckVerdict, {{CheckVerdict::ok, "ok"},
                                            {CheckVerdict::warn, "warn"},
                                            {CheckVerdict::fail, "fail"},
                                            {CheckVerdict::skipped, "skipped"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Check, verdict, name, line)

namespace {

using nlohmann::json;

std::string print(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Check evaluate(const CheckRow& row, F facts) {
  Check check{.name = row.subject == Subject::gpu
                          ? fmt::format("gpu{}.{}", facts.gpu.ordinal, row.name)
                          : row.name};
  try {
    check.line = row.judge(facts);
  } catch (const std::bad_optional_access&) {
    check.line = "the system does not say";
    check.verdict = CheckVerdict::skipped;
    return check;
  }
  if (check.line.empty() || row.severity == CheckSeverity::informs) return check;
  const bool is_allowed =
      row.severity == CheckSeverity::fails_unless_shared && facts.sharing == Sharing::allowed;
  check.verdict =
      row.severity == CheckSeverity::warns || is_allowed ? CheckVerdict::warn : CheckVerdict::fail;
  if (row.severity == CheckSeverity::fails_unless_shared && !is_allowed) {
    check.line += ", or measure nevertheless with --allow-shared-gpu";
  }
  return check;
}

}  // namespace

Checks judge(Subject subject, F facts) {
  Checks checks;
  for (const CheckRow& row : subject == Subject::gpu ? gpu_rows() : host_rows()) {
    if (row.subject == subject) checks.push_back(evaluate(row, facts));
  }
  return checks;
}

std::string why_run_is_refused(Subject subject, F facts) {
  for (const CheckRow& row : host_rows()) {
    if (row.subject != subject || row.severity != CheckSeverity::refuses) continue;
    const Check check = evaluate(row, facts);
    if (check.verdict == CheckVerdict::fail) return visible_line(check.line);
  }
  return "";
}

bool has_failure(const Checks& checks) {
  return std::ranges::find(checks, CheckVerdict::fail, &Check::verdict) != checks.end();
}

std::string render_checks(const Checks& checks, const std::string& speaker) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  const std::string start = speaker.empty() ? "" : speaker + "  ";
  std::string text;
  for (const Check& check : checks) {
    std::string line =
        fmt::format("{}{:<7}  {:<{}}  {}", start, name_of(check_verdict_names, check.verdict),
                    check.name, width, visible_line(check.line));
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  const auto count = [&checks](CheckVerdict verdict) {
    return std::ranges::count(checks, verdict, &Check::verdict);
  };
  return text + fmt::format("{}{} ({} ok, {} warn, {} fail, {} skipped)\n", start,
                            has_failure(checks) ? "this machine cannot measure as it is"
                                                : "this machine can measure",
                            count(CheckVerdict::ok), count(CheckVerdict::warn),
                            count(CheckVerdict::fail), count(CheckVerdict::skipped));
}

std::string render_checks_json(const Checks& checks, const std::string& host) {
  return print({{"sonde", version},
                {"host", host},
                {"can_measure", !has_failure(checks)},
                {"checks", checks}}) +
         "\n";
}

std::string to_json(const Checks& checks) { return print(checks); }

Checks checks_from_json(const std::string& text) {
  try {
    return json::parse(text).get<Checks>();
  } catch (const json::exception& error) {
    throw Error(fmt::format("a message between processes is damaged ({})", error.what()));
  }
}

}  // namespace sonde
