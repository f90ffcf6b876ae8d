// The columns of a finding.
#include "analysis/report/export/finding_table.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

// Whole numbers up to here are exact doubles.
constexpr double largest_exact_whole = 9007199254740992.0;  // 2^53

Json json_of_number(double number) {
  if (std::trunc(number) == number && std::abs(number) <= largest_exact_whole) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

}  // namespace

std::array<FindingCell, 11> cells_of(const Finding& finding, std::string_view unit) {
  Value interval;
  if (finding.interval) interval = std::vector{finding.interval->low, finding.interval->high};
  return {{{"value", finding.value},
           {"unit", std::string(unit)},
           {"status", std::string(to_text(finding.status))},
           {"confidence", finding.confidence},
           {"samples", static_cast<double>(finding.samples)},
           {"repeatability", finding.repeatability},
           {"reproducibility", finding.reproducibility},
           {"replicates", static_cast<double>(finding.replicates)},
           {"modes", finding.modes},
           {"interval", std::move(interval)},
           {"reason", finding.reason}}};
}

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
