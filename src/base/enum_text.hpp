// Conversion between an enum and its names, by a constexpr table next to the enum.
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// One row of such a table: `constexpr EnumName<Colour> colour_names[]{{Colour::red, "red"}, ...}`.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// @throws Error if the table lacks the value
template <class Enum, std::size_t count>
constexpr std::string_view name_of(const EnumName<Enum> (&names)[count], Enum value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  throw Error("an enum has a value without a name");
}

/// Nothing if no value has this name.
template <class Enum, std::size_t count>
constexpr std::optional<Enum> find_value(const EnumName<Enum> (&names)[count],
                                         std::string_view name) {
  for (const auto& entry : names) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

/// All names in the order of the table.
template <class Enum, std::size_t count>
std::vector<std::string> list_names(const EnumName<Enum> (&names)[count]) {
  std::vector<std::string> list;
  for (const auto& entry : names) list.emplace_back(entry.name);
  return list;
}

}  // namespace sonde
