// The options of a run as texts: a TOML file for the next run, JSON and a hash for its file.
#include "config/run_options.hpp"

#include "base/random.hpp"
#include "base/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace sonde {
namespace {

std::string toml_value(const std::string& text) { return fmt::format("\"{}\"", text); }
std::string toml_value(const std::vector<std::string>& texts) {
  return texts.empty() ? "" : fmt::format("[\"{}\"]", fmt::join(texts, "\", \""));
}
template <class Number>
std::string toml_value(const Number& number) {
  return fmt::format("{}", number);
}

template <class Value>
void add_to_json(nlohmann::ordered_json& json, const OptionText& option, const Value& value) {
  std::string key(option.name);
  std::ranges::replace(key, '-', '_');
  json[key] = value;
}

}  // namespace

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
    if (option.role != OptionRole::asks_instead) add_to_json(json, option, value);
  });
  return json.dump();
}

std::string hash_options(const RunOptions& options) {
  nlohmann::ordered_json json{{"version", version}};
  for_each_run_option(options, [&json](const auto& value, const OptionText& option) {
    if (option.role == OptionRole::decides_results) add_to_json(json, option, value);
  });
  return fmt::format("{:016x}", derive_seed(0, json.dump()));
}

}  // namespace sonde
