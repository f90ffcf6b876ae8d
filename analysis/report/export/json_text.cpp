#include "analysis/report/export/json_text.hpp"

#include "base/escape.hpp"

#include <cmath>
#include <cstdint>

namespace sonde {
namespace {

// All whole numbers up to this are exact doubles.
constexpr double largest_exact_whole = 9007199254740992.0;  // 2^53

Json json_of_number(double number) {
  if (std::trunc(number) == number && std::abs(number) <= largest_exact_whole) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

}  // namespace

Json json_of(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return json_of_number(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  if (numbers == nullptr) return nullptr;
  Json list = Json::array();
  for (const double number : *numbers) list.push_back(json_of_number(number));
  return list;
}

std::string dump(const Json& json, int indent) {
  return escape_json_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace sonde
