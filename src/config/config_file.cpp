#include "config/config_file.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"
#include "config/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace sonde {
namespace {

// All options with their comments take a few kilobytes.
constexpr std::uint64_t longest_file_bytes = 1 << 20;

/// @throws ConfigError with a text that begins like "night.toml:3:9:"
[[noreturn]] void fail_at(const std::filesystem::path& path, const toml::source_region& region,
                          std::string_view what) {
  throw ConfigError(
      fmt::format("{}:{}:{}: {}", path.string(), region.begin.line, region.begin.column, what));
}

toml::table parse_file(const std::filesystem::path& path) {
  const std::string text = read_text_file(path, longest_file_bytes);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail_at(path, error.source(),
            fmt::format("{} (the file must be TOML) write texts in quotes, as in suite = \"quick\"",
                        error.description()));
  }
}

/// The value of a key; empty if its type is not that of the option.
template <class Value>
struct Typed {
  std::optional<Value> value;
  std::string wanted;  // for messages: what the value must be
};

template <class Value>
Typed<Value> read_value(const toml::node& node) {
  if constexpr (std::is_same_v<Value, bool>) {
    return {node.value_exact<bool>(), "true or false"};
  } else if constexpr (std::is_integral_v<Value>) {
    constexpr Value least = std::numeric_limits<Value>::min();
    const auto given = node.value_exact<std::int64_t>();
    const bool fits = given && std::in_range<Value>(*given);
    return {fits ? std::optional(static_cast<Value>(*given)) : std::nullopt,
            fmt::format("a whole number of {} or more, without quotes", least)};
  } else if constexpr (std::is_floating_point_v<Value>) {
    return {node.is_number() ? node.value<Value>() : std::nullopt, "a number, without quotes"};
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return {node.value_exact<std::string>(), "a text in quotes"};
  } else {
    static_assert(std::is_same_v<Value, std::vector<std::string>>);
    const toml::array* list = node.as_array();
    Typed<Value> texts{std::nullopt, "a list of texts, as in [\"clock\", \"tlb\"]"};
    if (list == nullptr) return texts;
    Value items;
    for (const toml::node& item : *list) {
      const auto text = item.value_exact<std::string>();
      if (!text) return texts;
      items.push_back(*text);
    }
    texts.value = std::move(items);
    return texts;
  }
}

/// A value as the text of an axis or of a job's option; nothing if it is a table.
std::optional<std::string> value_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  const toml::array* list = node.as_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> items;
  for (const toml::node& item : *list) {
    const auto text = value_text(item);
    if (!text) return std::nullopt;
    items.push_back(*text);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

/// Calls `take(name, node)` for each key. If `take` returns false, continues in the table under the
/// key, whose names are like "latency.carveout_bytes".
template <class Take>
void for_each_leaf(const toml::table& table, const std::string& prefix, const Take& take) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (take(name, node)) continue;
    for_each_leaf(*node.as_table(), name + ".", take);
  }
}

/// The table `[job.<name>]`: gives an item of --set for each key.
std::vector<std::string> read_items(const std::filesystem::path& path, const toml::table& table) {
  std::vector<std::string> items;
  for_each_leaf(table, "", [&](const std::string& name, const toml::node& node) {
    if (node.is_table()) return false;
    const auto text = value_text(node);
    if (!text) fail_at(path, node.source(), fmt::format("'{}' must be a number or a text", name));
    items.push_back(fmt::format("{}={}", name, *text));
    return true;
  });
  return items;
}

/// The values of an axis: a list, a text as for --sweep, or `{from = 8, to = 64, step = 8}` (or
/// `factor = 2`). Nothing if the node is a table of other axes.
std::optional<std::string> read_axis_values(const std::filesystem::path& path,
                                            const toml::node& node) {
  if (const toml::table* range = node.as_table()) {
    if (!range->contains("from")) return std::nullopt;
    const bool grows = range->contains("factor");
    const char* const last = grows ? "factor" : "step";
    std::vector<std::string> parts;
    for (const char* const key : {"from", "to", last}) {
      const toml::node* part = range->get(key);
      if (part == nullptr && key == last) continue;
      const auto text = part == nullptr ? std::nullopt : value_text(*part);
      if (!text) fail_at(path, node.source(), "a range is {from = 8, to = 64, step = 8}");
      parts.push_back((grows && key == last ? "*" : "") + *text);
    }
    if (range->size() == parts.size()) return fmt::format("{}", fmt::join(parts, ":"));
    fail_at(path, node.source(), "a range has from, to, and step or factor, and no more");
  }
  const toml::array* list = node.as_array();
  if (list == nullptr) return value_text(node);
  std::string texts;  // with a semicolon after each, since an item may hold commas
  for (const toml::node& item : *list) {
    const auto text = value_text(item);
    if (!text) fail_at(path, item.source(), "must be a number, a text, or a list of texts");
    texts += *text + ';';
  }
  return texts;
}

/// The table `[sweep]`: its axes in the order of the file.
void read_sweep_table(const std::filesystem::path& path, const toml::table& table,
                      RunOptions& options) {
  std::vector<std::pair<toml::source_position, std::string>> axes;
  for_each_leaf(table, "", [&](const std::string& name, const toml::node& node) {
    if (name == "mode") {
      options.sweep_mode = node.value<std::string>().value_or("");
      return true;
    }
    const auto values = read_axis_values(path, node);
    if (!values && !node.is_table()) {
      fail_at(path, node.source(), fmt::format("'{}' must be a list, a range or a text", name));
    }
    if (!values) return false;
    axes.emplace_back(node.source().begin, fmt::format("{}={}", name, *values));
    try {
      parse_axis(axes.back().second);
    } catch (const ConfigError& error) {
      fail_at(path, node.source(), error.what());
    }
    return true;
  });
  // toml++ sorts a table by its keys.
  std::ranges::stable_sort(axes, [](const auto& one, const auto& other) {
    return std::tie(one.first.line, one.first.column) <
           std::tie(other.first.line, other.first.column);
  });
  options.sweep.clear();
  for (auto& [where, text] : axes) options.sweep.push_back(std::move(text));
}

/// Reads the table `[sweep]` or `[job]`; returns false if the node is neither.
bool read_option_table(const std::filesystem::path& path, std::string_view key,
                       const toml::node& node, const ConfigRules& rules, RunOptions& options) {
  const toml::table* table = node.as_table();
  if (table == nullptr || (key != "sweep" && key != "job")) return false;
  if (key == "job") {
    if (!rules.is_chosen("set")) options.set = read_items(path, *table);
  } else if (!rules.is_chosen("sweep")) {
    read_sweep_table(path, *table, options);
  }
  try {
    rules.check(options);
  } catch (const ConfigError& error) {
    fail_at(path, node.source(), error.what());
  }
  return true;
}

}  // namespace

void read_config_file(const std::filesystem::path& path, const ConfigRules& rules,
                      RunOptions& options) {
  const toml::table root = parse_file(path);
  for (const auto& [key, node] : root) {
    bool known = read_option_table(path, key.str(), node, rules, options);
    if (known) continue;
    for_each_run_option(
        options, [&, &key = key, &node = node](auto& member, const OptionText& option) {
          if (option.name != key.str()) return;
          known = true;
          if (rules.is_chosen(option.name)) return;
          auto typed = read_value<std::remove_cvref_t<decltype(member)>>(node);
          if (!typed.value) {
            fail_at(path, node.source(), fmt::format("'{}' must be {}", option.name, typed.wanted));
          }
          member = std::move(*typed.value);
          try {
            rules.check(options);
          } catch (const ConfigError& error) {
            fail_at(path, node.source(), error.what());
          }
        });
    if (known) continue;
    fail_at(path, key.source(),
            fmt::format("unknown key '{}' (a typo would change the run unnoticed) see sonde run "
                        "--help for all keys",
                        key.str()));
  }
}

}  // namespace sonde
