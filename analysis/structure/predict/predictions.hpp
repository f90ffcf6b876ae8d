// What a structure is believed by: chases that it predicts, drawn for the question.
#pragma once

#include <cstdint>

namespace sonde {

struct Predictions {
  std::uint64_t asked = 0;
  std::uint64_t right = 0;

  /// Nine of ten: what disturbs a chase now and then refutes nothing.
  bool bear_out() const { return asked > 0 && 10 * right >= 9 * asked; }
  double share() const {
    return asked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(asked);
  }
  /// That the next one is right (rule of succession).
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
