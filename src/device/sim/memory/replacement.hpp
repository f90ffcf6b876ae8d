// Replacement policies on flat arrays: who leaves a full set. One object serves all sets of one
// cache array; ways of set s are the slots first_slot .. first_slot + ways - 1.
#pragma once

#include "base/random.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

/// A set as the policies see it.
struct SetView {
  std::uint32_t set = 0;
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
  std::uint64_t* filled = nullptr;  // how many of them
  std::uint64_t* tags = nullptr;    // by way: a line, and a bit for each of its sectors
  std::uint64_t* used = nullptr;    // by way, where the order of use counts (has_order)
};

/// Whether a policy needs to know when each way was last used or filled.
bool has_order(DeclaredPolicy policy);

/// Guarded lru: the ways of the last two hits in a set, which cannot leave. Numbers beyond the ways
/// of the set stand for nobody.
struct Guard {
  static constexpr std::uint32_t nobody = ~0u;
  std::uint32_t earlier = nobody;
  std::uint32_t later = nobody;

  bool holds(std::uint32_t way) const { return earlier == way || later == way; }
  /// A hit; gives the way that is guarded no more.
  std::uint32_t push(std::uint32_t way) {
    const std::uint32_t released = earlier;
    earlier = later;
    later = way;
    return holds(released) ? nobody : released;
  }
  /// Another line takes the way.
  void forget(std::uint32_t way) {
    if (earlier == way) earlier = nobody;
    if (later == way) {
      later = earlier;
      earlier = nobody;
    }
  }
  /// Who leaves a set whose ways are all guarded.
  std::uint32_t first_to_leave(std::uint32_t ways) const {
    return earlier < ways ? earlier : later;
  }
};

class ReplacementState {
 public:
  /// @param slots of all sets together, which may be more than they have ways
  ReplacementState(const Geometry& geometry, std::size_t slots);

  /// Starts anew; `seed` for random replacement. Sets are emptied one by one, by clear_set.
  void clear(std::uint64_t seed);
  void clear_set(const SetView& view);
  void on_hit(const SetView& view, std::uint32_t way) {
    if (policy_ == DeclaredPolicy::lru) {
      view.used[way] = ++uses_;
    } else {
      mark_hit(view, way);
    }
  }
  void on_fill(const SetView& view, std::uint32_t way);
  /// The way to replace in a full set.
  std::uint32_t victim(const SetView& view);

 private:
  void mark_hit(const SetView& view, std::uint32_t way);
  void mark_recent(const SetView& view, std::uint32_t way);
  void point_away(const SetView& view, std::uint32_t way);
  std::uint32_t follow_tree(const SetView& view) const;
  void guard_hit(const SetView& view, std::uint32_t way);
  std::uint32_t oldest_unguarded(const SetView& view) const;
  std::uint32_t pass_clock(const SetView& view);
  std::uint32_t distant(const SetView& view);
  std::uint8_t insertion_distance(const SetView& view);
  std::uint32_t choose_weighted(const SetView& view);

  DeclaredPolicy policy_;
  std::vector<double> cumulative_weights_;
  Random random_{0};
  std::vector<Guard> guards_;  // by set: guarded lru
  std::uint64_t uses_ = 0;
  std::vector<std::uint8_t> marks_;   // nru, clock: used bit; srrip, brrip: distance; tree: node
  std::vector<std::uint32_t> hands_;  // clock
  int brrip_votes_ = 0;               // set duelling: misses in SRRIP minus in BRRIP leaders
};

}  // namespace sonde::sim
