#include "config/run_options.hpp"

#include "base/error.hpp"
#include "base/escape.hpp"
#include "base/random.hpp"
#include "base/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sonde {
namespace {

// A year; no batch system runs a job for longer.
constexpr double longest_wait_s = 366.0 * 24 * 3600;

std::string toml_value(const std::string& text) {
  if (repair_utf8(text) != text) {
    throw ConfigError(fmt::format(
        "'{}' is no valid UTF-8 (TOML files hold nothing else) give another name", text));
  }
  std::ostringstream quoted;
  quoted << toml::default_formatter(toml::value<std::string>(text), toml::format_flags::none);
  return quoted.str();
}
std::string toml_value(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) values.push_back(toml_value(text));
  return values.empty() ? "" : fmt::format("[{}]", fmt::join(values, ", "));
}
template <class Number>
std::string toml_value(const Number& number) {
  return fmt::format("{}", number);
}

std::string json_key(const OptionText& option) {
  std::string key(option.name);
  std::ranges::replace(key, '-', '_');
  return key;
}

/// Names of files need not be UTF-8, but JSON must be. Invalid bytes are written as \xf6, so two
/// different names keep different hashes.
nlohmann::json to_json_value(const std::string& text) { return repair_utf8(text); }
nlohmann::json to_json_value(const std::vector<std::string>& texts) {
  auto list = nlohmann::json::array();
  for (const std::string& text : texts) list.push_back(repair_utf8(text));
  return list;
}
template <class Number>
nlohmann::json to_json_value(const Number& number) {
  return number;
}

/// The value as a text; the items of a list are separated by commas.
std::string show_value(const nlohmann::json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::vector<std::string> texts;
  std::ranges::transform(value, std::back_inserter(texts), show_value);
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

void check_options(const RunOptions& options) {
  for_each_run_option(options, [](const auto& value, const OptionText& option) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
      // TOML has only signed integers.
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      if (value <= most) return;
      throw ConfigError(fmt::format("--{} must be at most {}", option.name, most));
    } else if constexpr (std::is_same_v<Value, double>) {
      if (value > 0 && value <= longest_wait_s) return;  // false for NaN
      throw ConfigError(
          fmt::format("--{} must be a positive number of seconds, at most {} (a year), not {}",
                      option.name, longest_wait_s, value));
    }
  });
  if (options.memory_percent < 1 || options.memory_percent > 100) {
    throw ConfigError(
        fmt::format("--memory-percent must be 1 to 100, not {}", options.memory_percent));
  }
  if (options.repeat > most_points) {
    throw ConfigError(
        fmt::format("--repeat must be at most {}, not {}", most_points, options.repeat));
  }
  if (options.sweep_mode != "product" && options.sweep_mode != "zip") {
    throw ConfigError(
        fmt::format("--sweep-mode must be product or zip, not '{}'", options.sweep_mode));
  }
  time_budget_s(options);
}

std::string to_toml(const RunOptions& options) {
  std::string text;
  for_each_run_option(options, [&text](const auto& value, const OptionText& option) {
    if (option.role == OptionRole::asks_instead) return;
    const std::string shown = toml_value(value);
    if (!shown.empty()) text += fmt::format("{} = {}\n", option.name, shown);
  });
  return text;
}

std::string to_json(const RunOptions& options) {
  nlohmann::ordered_json json;
  for_each_run_option(options, [&json](const auto& value, const OptionText& option) {
    if (option.role != OptionRole::asks_instead) json[json_key(option)] = to_json_value(value);
  });
  return json.dump();
}

std::string describe_difference(const std::string& one, const std::string& other,
                                std::span<const std::string_view> except) {
  const auto one_json = nlohmann::json::parse(one, nullptr, false);
  const auto other_json = nlohmann::json::parse(other, nullptr, false);
  if (!one_json.is_object() || !other_json.is_object()) return "";
  const auto show = [](const nlohmann::json& value) {
    const std::string text = show_value(value);
    return text.empty() ? "none" : text;
  };
  std::vector<std::string> differences;
  const RunOptions usual_options;
  for_each_run_option(usual_options, [&](const auto& usual, const OptionText& option) {
    const bool decides =
        option.role == OptionRole::decides_results || option.role == OptionRole::makes_points;
    if (!decides || std::ranges::find(except, option.name) != except.end()) return;
    const nlohmann::json mine = one_json.value(json_key(option), nlohmann::json(usual));
    const nlohmann::json theirs = other_json.value(json_key(option), nlohmann::json(usual));
    if (mine == theirs) return;
    differences.push_back(fmt::format("--{} {}, not {}", option.name, show(mine), show(theirs)));
  });
  return fmt::format("{}", fmt::join(differences, "; "));
}

std::string hash_options(const RunOptions& options, std::uint64_t repeat_index) {
  nlohmann::ordered_json json{{"version", version}};
  for_each_run_option(options, [&json](const auto& value, const OptionText& option) {
    if (option.role == OptionRole::decides_results) json[json_key(option)] = to_json_value(value);
  });
  if (repeat_index > 0) json["repeat_index"] = repeat_index;
  return fmt::format("{:016x}", derive_seed(0, json.dump()));
}

bool fills_time_budget(const RunOptions& options) {
  return options.repeat == 0 && options.suite == "full" && !options.time_budget.empty();
}

std::optional<double> time_budget_s(const RunOptions& options) {
  if (options.time_budget.empty()) return std::nullopt;
  constexpr std::pair<std::string_view, double> units[]{
      {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 24 * 3600}};
  const std::string& text = options.time_budget;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  const auto* known = std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  const bool sound = error == std::errc() && known != std::end(units) && number > 0;
  const double seconds = sound ? number * known->second : 0;
  if (seconds > 0 && seconds <= longest_wait_s) return seconds;
  throw ConfigError(fmt::format(
      "--time-budget must be a time such as 90min or 6h, at most a year, not '{}'", text));
}

}  // namespace sonde
