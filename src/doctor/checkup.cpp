// Checks as text and as JSON.
#include "doctor/checkup.hpp"

#include "base/error.hpp"
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Check, verdict, name, found, advice)

namespace {

using nlohmann::json;

std::string print(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string summarize(const Checks& checks) {
  const auto count = [&checks](CheckVerdict verdict) {
    return std::ranges::count(checks, verdict, &Check::verdict);
  };
  return fmt::format(
      "{} ({} ok, {} warn, {} fail, {} skipped)",
      has_failure(checks) ? "this machine cannot measure as it is" : "this machine can measure",
      count(CheckVerdict::ok), count(CheckVerdict::warn), count(CheckVerdict::fail),
      count(CheckVerdict::skipped));
}

}  // namespace

void append(Checks& checks, Checks more) { std::ranges::move(more, std::back_inserter(checks)); }

bool has_failure(const Checks& checks) {
  return std::ranges::find(checks, CheckVerdict::fail, &Check::verdict) != checks.end();
}

std::string render_checks(const Checks& checks, const std::string& speaker) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  const std::string start = speaker.empty() ? "" : speaker + "  ";
  std::string text;
  for (const Check& check : checks) {
    text +=
        fmt::format("{}{:<7}  {:<{}}  {}{}{}\n", start, name_of(check_verdict_names, check.verdict),
                    check.name, width, visible_line(check.found),
                    check.advice.empty() ? "" : "  -> ", visible_line(check.advice));
  }
  return text + start + summarize(checks) + "\n";
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
