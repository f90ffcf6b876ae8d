// Text behind text; what is not plain goes through the JSON library.
#include "analysis/report/json_findings.hpp"

#include "analysis/report/content.hpp"
#include "base/escape.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde {
namespace {

// Whole numbers up to here are exact doubles and are written without a point.
constexpr double largest_exact_whole = 9007199254740992.0;  // 2^53

void add_text(std::string& json, std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {
    json.append(1, '"').append(text).append(1, '"');
  } else {
    json += escape_json_controls(
        nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

/// Those that are not finite become null.
void add_number(std::string& json, double number) {
  const auto end = std::back_inserter(json);
  if (!std::isfinite(number)) {
    json += "null";
  } else if (std::trunc(number) == number && std::abs(number) <= largest_exact_whole) {
    fmt::format_to(end, FMT_COMPILE("{}"), static_cast<std::int64_t>(number));
  } else {
    fmt::format_to(end, FMT_COMPILE("{}"), number);
  }
}

void add_numbers(std::string& json, std::span<const double> numbers) {
  const char* before = "[";
  for (const double number : numbers) {
    json += before;
    add_number(json, number);
    before = ", ";
  }
  json += numbers.empty() ? "[]" : "]";
}

void add_value(std::string& json, const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    add_number(json, *number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    add_text(json, *text);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    add_numbers(json, *numbers);
  } else {
    json += "null";
  }
}

void add_finding(std::string& json, const Finding& finding, std::string_view unit) {
  json += "{\"value\": ";
  add_value(json, finding.value);
  json += ", \"unit\": ";
  add_text(json, unit);
  json += ", \"status\": ";
  add_text(json, to_text(finding.status));
  json += ", \"confidence\": ";
  add_number(json, finding.confidence);
  fmt::format_to(std::back_inserter(json), FMT_COMPILE(", \"samples\": {}"), finding.samples);
  json += ", \"repeatability\": ";
  add_number(json, finding.repeatability);
  json += ", \"reproducibility\": ";
  add_number(json, finding.reproducibility);
  fmt::format_to(std::back_inserter(json), FMT_COMPILE(", \"replicates\": {}"), finding.replicates);
  json += ", \"modes\": ";
  add_numbers(json, finding.modes);
  json += ", \"interval\": ";
  if (finding.interval) {
    const double ends[]{finding.interval->low, finding.interval->high};
    add_numbers(json, ends);
  } else {
    json += "null";
  }
  json += ", \"reason\": ";
  add_text(json, finding.reason);
  json += "}";
}

/// In the order in which the metrics occur first.
std::vector<const Finding*> last_of_each_metric(const DeviceResult& device) {
  std::vector<const Finding*> findings;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const JobResult& job : device.jobs) {
    for (const Finding& finding : job.findings) {
      const auto [place, is_new] = places.try_emplace(finding.metric, findings.size());
      if (is_new) {
        findings.push_back(&finding);
      } else {
        findings[place->second] = &finding;
      }
    }
  }
  return findings;
}

}  // namespace

std::string json_findings(const DeviceResult& device, std::span<const Metric> registry,
                          std::size_t indent) {
  const std::string margin = "\n" + std::string(indent, ' ');
  std::string json;
  for (const Finding* finding : last_of_each_metric(device)) {
    if (!json.empty()) json += ',';
    json += margin;
    add_text(json, finding->metric);
    json += ": ";
    add_finding(json, *finding, unit_of(registry, finding->metric));
  }
  return json;
}

}  // namespace sonde
