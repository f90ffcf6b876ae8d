// Counts the predictions of a structure, made for chases that the search did not use.
#pragma once

#include <cstdint>

namespace sonde {

struct Predictions {
  std::uint64_t asked = 0;
  std::uint64_t right = 0;

  /// At least nine of ten are right: a few disturbed chases refute nothing.
  bool bear_out() const { return asked > 0 && 10 * right >= 9 * asked; }
  double share() const {
    return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
  }
  /// Probability that the next prediction is right (rule of succession).
  double confidence() const {
    return (static_cast<double>(right) + 1) / (static_cast<double>(asked) + 2);
  }
  Predictions& operator+=(const Predictions& more) {
    asked += more.asked;
    right += more.right;
    return *this;
  }
};

}  // namespace sonde
