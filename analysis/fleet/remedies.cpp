// Reads the lists and the table of docs/remedies.md.
#include "analysis/fleet/remedies.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

/// The text after the mark; "" if the page does not have the mark.
std::string_view page_after(std::string_view mark) {
  const std::string_view page = remedy_page().front().text;
  const std::size_t place = page.find(mark);
  return place == std::string_view::npos ? "" : page.substr(place + mark.size());
}

/// Removes the text before the separator, and the separator; returns the text.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
  return part;
}

}  // namespace

std::vector<std::string> remedies(Trouble trouble, std::string_view uuid) {
  constexpr std::string_view indent = "    ";
  constexpr std::string_view index =
      "$(nvidia-smi -i UUID --query-gpu=index --format=csv,noheader)";
  std::string_view page = page_after(fmt::format("`{}`", key_of(trouble)));
  take_until(page, "\n\n");
  std::vector<std::string> all;
  while (page.starts_with(indent)) {
    const std::string_view line = take_until(page, "\n").substr(indent.size());
    const std::string of_any = replace_all(std::string(line), "INDEX", index);
    all.push_back(replace_all(of_any, "UUID", quote_shell(uuid)));
  }
  return all;
}

XidMeaning meaning_of_xid(int code) {
  std::string_view row = page_after(fmt::format("**{}** ", code));
  if (row.empty()) {
    return {.text = "not in the table of sonde",
            .remedy =
                "Look the code up in NVIDIA's catalogue: "
                "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"};
  }
  std::string_view codes = take_until(row, " | ");  // further codes may share the row
  XidMeaning meaning;
  meaning.text = take_until(codes, "; ");
  const std::string_view severity = take_until(row, " | ");
  for (const Severity one : {Severity::info, Severity::warn, Severity::fail}) {
    if (severity == to_text(one)) meaning.severity = one;
  }
  meaning.remedy = take_until(row, " | ");
  return meaning;
}

}  // namespace sonde
