#include "config/config_file.hpp"

#include "base/error.hpp"
#include "base/text_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <limits>
#include <optional>
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

}  // namespace

void read_config_file(const std::filesystem::path& path, const ConfigRules& rules,
                      RunOptions& options) {
  const toml::table root = parse_file(path);
  for (const auto& [key, node] : root) {
    bool known = false;
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
