// Random numbers from a seed that the file records: a seed gives the same run on every machine.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace sonde {

/// One step of splitmix64 (Steele, Lea, Flood 2014); spreads a poor seed over 64 bits.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A seed for a named part of a run, so that the parts draw independent numbers.
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::string_view part) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a offset basis and prime
  for (char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix_bits(seed ^ hash);
}

/// Counter-based generator on splitmix64. Satisfies UniformRandomBitGenerator.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  constexpr result_type operator()() {
    const std::uint64_t value = mix_bits(state_);
    state_ += 0x9e3779b97f4a7c15ULL;
    return value;
  }
  /// Uniform in [0, bound). @pre bound > 0. Bias below 2^-32 for bounds below 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

/// Fisher-Yates; unlike std::shuffle it gives the same order with every standard library.
template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(i)]);
  }
}

}  // namespace sonde
