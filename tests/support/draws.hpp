// Draws for tests that make things up: the same seed gives the same things on every machine.
#pragma once

#include "base/random.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string_view>
#include <utility>

namespace sonde::test {

/// Of mean 0 and deviation 1 (Box and Muller 1958).
inline double gauss(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view part) : random_(derive_seed(seed, part)) {}

  bool chance(double probability) { return random_.unit() < probability; }
  double real(double low, double high) { return low + (high - low) * random_.unit(); }
  /// A whole number from low to high, both included.
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_.below(high - low + 1);
  }
  /// The same, every doubling as likely as every other.
  std::uint64_t log_between(std::uint64_t low, std::uint64_t high) {
    const double top = std::log(static_cast<double>(high) + 1);
    return static_cast<std::uint64_t>(std::exp(real(std::log(static_cast<double>(low)), top)));
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[random_.below(choices.size())];
  }
  /// @param choices things with the number of tickets that each has
  template <class T>
  T pick_weighted(std::initializer_list<std::pair<T, double>> choices) {
    double sum = 0;
    for (const auto& [choice, tickets] : choices) sum += tickets;
    double left = real(0, sum);
    for (const auto& [choice, tickets] : choices) {
      if ((left -= tickets) < 0) return choice;
    }
    return choices.begin()->first;
  }
  Random& random() { return random_; }

 private:
  Random random_;
};

}  // namespace sonde::test
