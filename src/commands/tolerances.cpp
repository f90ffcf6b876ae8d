#include "commands/tolerances.hpp"

#include "analysis/metrics.hpp"
#include "base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

namespace sonde {
namespace {

constexpr double most_percent = 1000;

std::optional<double> read_percent(std::string_view text) {
  double percent = 0;
  const auto* const end = std::to_address(text.end());
  const auto [rest, error] = std::from_chars(std::to_address(text.begin()), end, percent);
  const bool whole = error == std::errc() && rest == end;
  return whole && percent > 0 && percent <= most_percent ? std::optional(percent) : std::nullopt;
}

bool has_metric(std::string_view prefix) {
  return std::ranges::any_of(all_metrics(), [prefix](const Metric& metric) {
    return std::string_view(metric.name).starts_with(prefix);
  });
}

Tolerance parse_tolerance(const std::string& item) {
  const std::size_t equals = item.find('=');
  const std::string prefix = item.substr(0, equals);
  const std::string_view values =
      equals == std::string::npos ? std::string_view() : std::string_view(item).substr(equals + 1);
  const std::size_t slash = values.find('/');
  const auto warn = read_percent(values.substr(0, slash));
  const Metric usual{};
  const auto fail = slash == std::string_view::npos
                        ? std::optional(warn.value_or(0) * usual.fail / usual.warn)
                        : read_percent(values.substr(slash + 1));
  if (prefix.empty() || !warn || !fail || *fail < *warn) {
    throw ConfigError(fmt::format(
        "'{}' is no tolerance (a metric or the beginning of some, and percent) write latency=2, or "
        "latency=2/4 to warn from 2 % on and fail from 4 %",
        item));
  }
  if (!has_metric(prefix)) {
    throw ConfigError(fmt::format(
        "no metric begins with '{}' (a typo would change no verdict) see sonde list metrics",
        prefix));
  }
  return {prefix, *warn / 100, *fail / 100};
}

}  // namespace

std::vector<Tolerance> parse_tolerances(const std::vector<std::string>& items) {
  std::vector<Tolerance> tolerances;
  for (const std::string& item : items) tolerances.push_back(parse_tolerance(item));
  return tolerances;
}

std::vector<Tolerance> tolerances_of(const Provenance& provenance) {
  const auto json = nlohmann::json::parse(provenance.config_json, nullptr, false);
  if (!json.is_object() || !json.contains("tolerance")) return {};
  return parse_tolerances(json["tolerance"].get<std::vector<std::string>>());
}

}  // namespace sonde
