#include "doctor/checks.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {

std::string first_failure(const Checks& checks) {
  const auto found = std::ranges::find(checks, CheckVerdict::fail, &Check::verdict);
  return found == checks.end() ? "" : visible_line(found->line);
}

std::string render_checks(const Checks& checks) {
  constexpr const char* verdicts[]{"ok", "warn", "fail", "skipped"};
  std::string text;
  for (const auto& [verdict, name, line] : checks) {
    const std::string row = fmt::format("{:<7}  {:<19}  {}", verdicts[static_cast<int>(verdict)],
                                        name, visible_line(line));
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace sonde
