// The columns of a finding.
#include "analysis/report/finding_table.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace sonde {
namespace {

// Whole numbers up to here are exact doubles.
constexpr double largest_exact_whole = 9007199254740992.0;  // 2^53

Value interval_of(const Finding& finding) {
  if (!finding.interval) return {};
  return std::vector<double>{finding.interval->low, finding.interval->high};
}

constexpr FindingColumn columns[]{
    {"value", [](const Finding& one, std::string_view) { return one.value; }},
    {"unit", [](const Finding&, std::string_view unit) { return Value(std::string(unit)); }},
    {"status",
     [](const Finding& one, std::string_view) { return Value(std::string(to_text(one.status))); }},
    {"confidence", [](const Finding& one, std::string_view) { return Value(one.confidence); }},
    {"samples",
     [](const Finding& one, std::string_view) { return Value(static_cast<double>(one.samples)); }},
    {"repeatability",
     [](const Finding& one, std::string_view) { return Value(one.repeatability); }},
    {"reproducibility",
     [](const Finding& one, std::string_view) { return Value(one.reproducibility); }},
    {"replicates", [](const Finding& one,
                      std::string_view) { return Value(static_cast<double>(one.replicates)); }},
    {"modes", [](const Finding& one, std::string_view) { return Value(one.modes); }},
    {"interval", [](const Finding& one, std::string_view) { return interval_of(one); }},
    {"reason", [](const Finding& one, std::string_view) { return Value(one.reason); }},
};

Json json_of_number(double number) {
  if (std::trunc(number) == number && std::abs(number) <= largest_exact_whole) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

}  // namespace

std::span<const FindingColumn> finding_columns() { return columns; }

Json json_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return json_of_number(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  if (numbers == nullptr) return nullptr;
  Json list = Json::array();
  for (const double number : *numbers) list.push_back(json_of_number(number));
  return list;
}

}  // namespace sonde
