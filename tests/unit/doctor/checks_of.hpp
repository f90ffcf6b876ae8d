// Finds one line among the checks of `sonde doctor`.
#pragma once

#include "doctor/checkup.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sonde {

/// The check of that name, of which there must be one.
inline Check check_of(const Checks& checks, const std::string& name) {
  EXPECT_EQ(std::ranges::count(checks, name, &Check::name), 1) << name;
  const auto found = std::ranges::find(checks, name, &Check::name);
  return found == checks.end() ? Check{.name = "missing"} : *found;
}

inline CheckVerdict verdict_of(const Checks& checks, const std::string& name) {
  return check_of(checks, name).verdict;
}

}  // namespace sonde
