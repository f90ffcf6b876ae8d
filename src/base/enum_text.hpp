// Names of enumerators: one table for each enum.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string_view>

namespace sonde {

template <typename Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// The name of `value`. @throws Error if the table lacks it
template <typename Enum, std::size_t n>
std::string_view name_of(const EnumName<Enum> (&names)[n], Enum value) {
  for (const EnumName<Enum>& row : names) {
    if (row.value == value) return row.name;
  }
  throw Error("a value has no name");
}

}  // namespace sonde
