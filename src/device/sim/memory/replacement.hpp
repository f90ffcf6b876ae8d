// Replacement policies on flat arrays: who leaves a full set. One object serves all sets of one
// cache array; ways of set s are the slots first_slot .. first_slot + ways - 1.
#pragma once

#include "base/random.hpp"
#include "device/sim/memory/set_state.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

/// A set as the policies see it.
struct SetView {
  std::uint32_t set = 0;
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
  SetState state;
};

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
    switch (bookkeeping_) {
      case Bookkeeping::none: return;
      case Bookkeeping::packed_lru: return packed_order::move_to_front(view.state.order(), way);
      case Bookkeeping::separate: return mark_hit(view, way);
    }
  }
  void on_fill(const SetView& view, std::uint32_t way) {
    switch (bookkeeping_) {
      case Bookkeeping::none: return;
      case Bookkeeping::packed_lru: return packed_order::move_to_front(view.state.order(), way);
      case Bookkeeping::separate: return mark_fill(view, way);
    }
  }
  /// The way to replace in a full set.
  std::uint32_t victim(const SetView& view) {
    return bookkeeping_ == Bookkeeping::packed_lru
               ? packed_order::oldest(view.state.order(), view.ways)
               : choose_victim(view);
  }

 private:
  void mark_hit(const SetView& view, std::uint32_t way);
  void mark_fill(const SetView& view, std::uint32_t way);
  std::uint32_t choose_victim(const SetView& view);
  void mark_recent(const SetView& view, std::uint32_t way);
  void point_away(const SetView& view, std::uint32_t way);
  std::uint32_t follow_tree(const SetView& view) const;
  void move_to_front(const SetView& view, std::uint32_t slot);
  void guard_hit(const SetView& view, std::uint32_t way);
  std::uint32_t oldest_unguarded(const SetView& view) const;
  std::uint32_t pass_clock(const SetView& view);
  std::uint32_t distant(const SetView& view);
  std::uint8_t insertion_distance(const SetView& view);
  std::uint32_t choose_weighted(const SetView& view);

  DeclaredPolicy policy_;
  std::vector<double> cumulative_weights_;
  Random random_{0};
  /// What uses of a set change: nothing with random replacement; for LRU, in sets of few ways, the
  /// order in their state; else the vectors below.
  enum class Bookkeeping { none, packed_lru, separate };
  Bookkeeping bookkeeping_;
  static Bookkeeping bookkeeping(const Geometry& geometry);
  /// Neighbours in the order of last use (lru) or fill (fifo), newest first.
  struct Link {
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
  };
  static constexpr std::uint32_t nobody = ~0u;
  std::vector<Guard> guards_;         // by set: guarded lru
  std::vector<Link> links_;           // by slot
  std::vector<Link> ends_;            // by set: oldest and newest slot
  std::vector<std::uint8_t> marks_;   // nru, clock: used bit; srrip, brrip: distance; tree: node
  std::vector<std::uint32_t> hands_;  // clock
  int brrip_votes_ = 0;               // set duelling: misses in SRRIP minus in BRRIP leaders
};

}  // namespace sonde::sim
