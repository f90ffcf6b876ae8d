// Replacement policies: they choose the victim in a full set. One object serves all sets of one
// cache array; the ways of a set are the slots first_slot .. first_slot + ways - 1. They are
// written from their publications, not from the inference that is tested against them.
#pragma once

#include "base/random.hpp"
#include "device/sim/model/model.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sonde::sim {

/// A set as the policies see it.
struct SetView {
  std::uint32_t set = 0;
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
  std::uint64_t* filled = nullptr;  // number of filled ways
  std::uint64_t* tags = nullptr;    // by way: a line, and a bit for each of its sectors
  std::uint64_t* used = nullptr;    // by way: when it was last used or filled; only if has_order
};

/// True if a policy needs to know when each way was last used or filled.
inline bool has_order(DeclaredPolicy policy) {
  using enum DeclaredPolicy;
  return policy == lru || policy == fifo || policy == guarded_lru;
}

/// Guarded LRU: the ways of the last two hits in a set, which cannot be victims.
struct Guard {
  static constexpr std::uint32_t nobody = ~0u;
  std::uint32_t earlier = nobody;
  std::uint32_t later = nobody;

  bool holds(std::uint32_t way) const { return earlier == way || later == way; }
  /// Records a hit. @return the way that is no longer guarded, or `nobody`
  std::uint32_t push(std::uint32_t way) {
    const std::uint32_t released = earlier;
    earlier = later;
    later = way;
    return holds(released) ? nobody : released;
  }
  /// Removes a way whose line is replaced.
  void forget(std::uint32_t way) {
    if (earlier == way) earlier = nobody;
    if (later == way) {
      later = earlier;
      earlier = nobody;
    }
  }
  /// The victim in a set whose ways are all guarded.
  std::uint32_t first_to_leave(std::uint32_t ways) const {
    return earlier < ways ? earlier : later;
  }
};

class ReplacementState {
 public:
  /// @param slots of all sets together; there may be more slots than ways
  ReplacementState(const Geometry& geometry, std::size_t slots)
      : policy_(geometry.replacement.policy) {
    const std::size_t sets = geometry.ways_per_set.size();
    double sum = 0;
    for (double weight : geometry.replacement.way_weights) {
      cumulative_weights_.push_back(sum += weight);
    }
    for (double& weight : cumulative_weights_) weight /= sum;
    if (is_random()) return;
    if (policy_ == Policy::guarded_lru) guards_.resize(sets);
    if (!has_order(policy_)) marks_.resize(policy_ == Policy::tree_plru ? 2 * slots : slots);
    if (policy_ == Policy::clock) hands_.resize(sets);
  }

  /// Resets what all sets share; `seed` is for random replacement. clear_set() resets one set.
  void clear(std::uint64_t seed) {
    random_ = Random(seed);
    brrip_votes_ = 0;
  }
  void clear_set(const SetView& view) {
    if (policy_ == Policy::guarded_lru) guards_[view.set] = {};
    if (has_order(policy_) || is_random()) return;  // these need no state before a way is filled
    const std::uint32_t marks = policy_ == Policy::tree_plru ? 2 : 1;
    std::fill_n(marks_.begin() + marks * view.first_slot, marks * view.ways, std::uint8_t{0});
    if (policy_ == Policy::clock) hands_[view.set] = 0;
  }
  void on_hit(const SetView& view, std::uint32_t way) {
    if (policy_ == DeclaredPolicy::lru) {
      view.used[way] = ++uses_;
    } else {
      mark_hit(view, way);
    }
  }
  void on_fill(const SetView& view, std::uint32_t way) {
    const std::uint32_t slot = view.first_slot + way;
    switch (policy_) {
      case Policy::fifo: view.used[way] = ++uses_; return;
      case Policy::srrip: marks_[slot] = long_interval; return;
      case Policy::brrip:
      case Policy::set_duelling: marks_[slot] = insertion_distance(view); return;
      case Policy::guarded_lru:
        guards_[view.set].forget(way);
        view.used[way] = ++uses_;
        return;
      default: mark_hit(view, way); return;
    }
  }
  /// The way to replace in a full set.
  std::uint32_t victim(const SetView& view) {
    switch (policy_) {
      case Policy::lru:
      case Policy::fifo:
        return static_cast<std::uint32_t>(std::min_element(view.used, view.used + view.ways) -
                                          view.used);
      case Policy::tree_plru: return follow_tree(view);
      case Policy::nru: {
        const std::uint8_t* first = marks_.data() + view.first_slot;
        const void* unused = std::memchr(first, 0, view.ways);
        return unused == nullptr
                   ? 0
                   : static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(unused) - first);
      }
      case Policy::clock: return pass_clock(view);
      case Policy::guarded_lru: return oldest_unguarded(view);
      case Policy::srrip:
      case Policy::brrip:
      case Policy::set_duelling: return distant(view);
      case Policy::random: return static_cast<std::uint32_t>(random_.below(view.ways));
      case Policy::weighted_ways: return choose_weighted(view);
    }
    return 0;
  }

 private:
  using Policy = DeclaredPolicy;
  // Two-bit re-reference intervals and one long insertion in 32 (Jaleel 2010).
  static constexpr std::uint8_t distant_interval = 3;
  static constexpr std::uint8_t long_interval = 2;
  static constexpr std::uint64_t brrip_period = 32;
  // One leader set of each policy in 32 and a 10-bit counter (Qureshi 2007, Jaleel 2010).
  static constexpr std::uint32_t duel_period = 32;
  static constexpr int duel_limit = 511;

  bool is_random() const { return policy_ == Policy::random || policy_ == Policy::weighted_ways; }

  void mark_hit(const SetView& view, std::uint32_t way) {
    const std::uint32_t slot = view.first_slot + way;
    switch (policy_) {
      case Policy::lru: view.used[way] = ++uses_; return;
      case Policy::tree_plru: point_away(view, way); return;
      case Policy::nru: mark_recent(view, way); return;
      case Policy::clock: marks_[slot] = 1; return;
      case Policy::srrip:
      case Policy::brrip:
      case Policy::set_duelling: marks_[slot] = 0; return;
      case Policy::guarded_lru: guard_hit(view, way); return;
      case Policy::fifo:
      case Policy::random:
      case Policy::weighted_ways: return;
    }
  }
  /// NRU: the used bits of a set are never all set; the last one to be set clears the others.
  void mark_recent(const SetView& view, std::uint32_t way) {
    std::uint8_t* first = marks_.data() + view.first_slot;
    if (first[way] != 0) return;
    first[way] = 1;
    if (std::memchr(first, 0, view.ways) == nullptr && view.ways > 1) {
      std::memset(first, 0, view.ways);
      first[way] = 1;
    }
  }
  /// Makes every node on the path to the leaf point to the other subtree. Nodes are numbered as in
  /// a heap, from 1 on; a set of other than 2^n ways uses the left part of a larger tree.
  void point_away(const SetView& view, std::uint32_t way) {
    std::uint8_t* nodes = marks_.data() + 2 * std::size_t{view.first_slot};
    std::uint32_t node = 1;
    for (std::uint32_t leaves = std::bit_ceil(view.ways) / 2; leaves > 0; leaves /= 2) {
      const bool right = (way & leaves) != 0;
      nodes[node] = right ? 0 : 1;
      node = 2 * node + (right ? 1 : 0);
    }
  }
  std::uint32_t follow_tree(const SetView& view) const {
    const std::uint8_t* nodes = marks_.data() + 2 * std::size_t{view.first_slot};
    std::uint32_t node = 1;
    std::uint32_t way = 0;
    for (std::uint32_t leaves = std::bit_ceil(view.ways) / 2; leaves > 0; leaves /= 2) {
      const bool right = nodes[node] != 0 && way + leaves < view.ways;
      way += right ? leaves : 0;
      node = 2 * node + (right ? 1 : 0);
    }
    return way;
  }
  void guard_hit(const SetView& view, std::uint32_t way) {
    const std::uint32_t released = guards_[view.set].push(way);
    if (released < view.ways) view.used[released] = ++uses_;
  }
  std::uint32_t oldest_unguarded(const SetView& view) const {
    const Guard& guard = guards_[view.set];
    std::uint32_t oldest = Guard::nobody;
    for (std::uint32_t way = 0; way < view.ways; ++way) {
      if (guard.holds(way)) continue;
      if (oldest == Guard::nobody || view.used[way] < view.used[oldest]) oldest = way;
    }
    return oldest == Guard::nobody ? guard.first_to_leave(view.ways) : oldest;
  }
  std::uint32_t pass_clock(const SetView& view) {
    std::uint32_t hand = hands_[view.set];
    while (marks_[view.first_slot + hand] != 0) {
      marks_[view.first_slot + hand] = 0;
      hand = hand + 1 == view.ways ? 0 : hand + 1;
    }
    hands_[view.set] = hand + 1 == view.ways ? 0 : hand + 1;
    return hand;
  }
  std::uint32_t distant(const SetView& view) {
    std::uint8_t* first = marks_.data() + view.first_slot;
    // All ways age together and seldom, so mostly some way is distant already. With thousands of
    // ways this search is most of the time of a chase.
    if (const void* distant = std::memchr(first, distant_interval, view.ways))
      return static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(distant) - first);
    const std::uint8_t* farthest = std::max_element(first, first + view.ways);
    const auto step = static_cast<std::uint8_t>(distant_interval - *farthest);
    const auto way = static_cast<std::uint32_t>(farthest - first);
    for (std::uint32_t i = 0; i < view.ways; ++i)
      first[i] = static_cast<std::uint8_t>(first[i] + step);
    return way;
  }
  std::uint8_t insertion_distance(const SetView& view) {
    bool bimodal = policy_ == Policy::brrip;
    if (policy_ == Policy::set_duelling) {
      const std::uint32_t role = view.set % duel_period;
      if (role == 0) brrip_votes_ = std::min(brrip_votes_ + 1, duel_limit);
      if (role == duel_period / 2) brrip_votes_ = std::max(brrip_votes_ - 1, -duel_limit);
      bimodal = role == duel_period / 2 || (role != 0 && brrip_votes_ > 0);
    }
    return bimodal && random_.below(brrip_period) != 0 ? distant_interval : long_interval;
  }
  std::uint32_t choose_weighted(const SetView& view) {
    const double chance = random_.unit();
    const auto found =
        std::upper_bound(cumulative_weights_.begin(), cumulative_weights_.end(), chance);
    const auto way = static_cast<std::uint32_t>(found - cumulative_weights_.begin());
    return std::min(way, view.ways - 1);
  }

  DeclaredPolicy policy_;
  std::vector<double> cumulative_weights_;
  Random random_{0};
  std::vector<Guard> guards_;  // by set: guarded lru
  std::uint64_t uses_ = 0;
  std::vector<std::uint8_t> marks_;   // nru, clock: used bit; srrip, brrip: distance; tree: node
  std::vector<std::uint32_t> hands_;  // clock
  int brrip_votes_ = 0;               // set duelling: misses in SRRIP minus BRRIP leader sets
};

}  // namespace sonde::sim
