// Which of many comes next, where each of them has one time that only grows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace sonde::sim {

/// Which warp's turn comes first; of those at one time that with the lowest number. Each warp has
/// one turn at a time: a tree of losers (Knuth, The Art of Computer Programming 3, section 5.4.1),
/// in which a new time of the first meets the losers on its way up, and nobody else.
class FirstTurn {
 public:
  /// All at time 0.
  explicit FirstTurn(std::size_t warps)
      : leaves_(std::bit_ceil(std::max<std::size_t>(warps, 1))), losers_(leaves_) {
    // All of the left half of a node have lower numbers than the right half: its first one loses.
    for (std::size_t node = 1; node < leaves_; ++node) {
      const std::size_t width = leaves_ / std::bit_floor(node);
      const std::size_t first_of_right = (node - std::bit_floor(node)) * width + width / 2;
      losers_[node] = {first_of_right < warps ? 0 : never, first_of_right};
    }
    first_ = {warps > 0 ? 0 : never, 0};
  }

  bool is_empty() const { return first_.time == never; }
  std::size_t warp() const { return first_.warp; }

  /// The first warp's next turn comes then. Another may be first now.
  void move_to(double time) {
    Turn turn{time, first_.warp};
    for (std::size_t node = (leaves_ + turn.warp) / 2; node > 0; node /= 2) {
      Turn& loser = losers_[node];
      if (loser.is_before(turn)) std::swap(loser, turn);
    }
    first_ = turn;
  }
  /// The first warp has no further turn.
  void remove() { move_to(never); }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  struct Turn {
    double time = never;
    std::size_t warp = 0;
    bool is_before(const Turn& other) const {
      return time < other.time || (time == other.time && warp < other.warp);
    }
  };
  std::size_t leaves_;
  std::vector<Turn> losers_;  // below node n are 2n and 2n + 1; the leaves are the warps
  Turn first_;
};

}  // namespace sonde::sim
