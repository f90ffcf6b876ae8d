// What no backend plays: a right probe, and the changes that each make it wrong.
#pragma once

#include "base/error.hpp"
#include "device/probe/probe.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

namespace sonde {

template <class Probe>
void expect_refused(
    const Probe& right,
    std::initializer_list<std::function<void(std::type_identity_t<Probe>&)>> changes,
    int sm_count = 2) {
  EXPECT_NO_THROW(validate_probe(right, sm_count));
  int number = 0;
  for (const auto& change : changes) {
    Probe probe = right;
    change(probe);
    EXPECT_THROW(validate_probe(probe, sm_count), Error) << "change " << number;
    ++number;
  }
}

}  // namespace sonde
