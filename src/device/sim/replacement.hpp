// Replacement policies on flat arrays: who leaves a full set. One object serves all sets of one
// cache array; ways of set s are the slots first_slot .. first_slot + ways - 1.
#pragma once

#include "base/random.hpp"
#include "device/sim/model.hpp"
#include "device/sim/set_layout.hpp"
#include "device/sim/set_record.hpp"

namespace sonde::sim {

/// A set as the policies see it.
struct SetView {
  std::uint32_t set = 0;
  std::uint32_t first_slot = 0;
  std::uint32_t ways = 0;
  SetRecord record;
};

class ReplacementState {
 public:
  /// @param slots of all sets together, which may be more than they have ways
  ReplacementState(const Geometry& geometry, std::size_t slots);

  /// Starts anew; `seed` for policies that draw. Sets are emptied one by one, by clear_set.
  void clear(std::uint64_t seed);
  void clear_set(const SetView& view);
  /// Tells that this set will be accessed soon, as CacheArray::expect.
  void expect(std::uint32_t set, std::uint32_t first_slot) const {
    if (links_.empty()) return;
    fetch_ahead(&ends_[set]);
    fetch_ahead(&links_[first_slot]);
    if (!guards_.empty()) fetch_ahead(&guards_[set]);
  }
  void on_hit(const SetView& view, std::uint32_t way) {
    if (draws_) return;
    if (!packed_) return mark_hit(view, way);
    if (policy_ == Policy::lru) packed_order::move_to_front(view.record.order(), way);
  }
  void on_fill(const SetView& view, std::uint32_t way) {
    if (draws_) return;
    if (!packed_) return mark_fill(view, way);
    packed_order::move_to_front(view.record.order(), way);
  }
  /// The way to replace in a full set.
  std::uint32_t victim(const SetView& view) {
    return packed_ ? packed_order::oldest(view.record.order(), view.ways) : choose_victim(view);
  }

 private:
  void mark_hit(const SetView& view, std::uint32_t way);
  void mark_fill(const SetView& view, std::uint32_t way);
  std::uint32_t choose_victim(const SetView& view);
  void mark_recent(const SetView& view, std::uint32_t way);
  void point_away(const SetView& view, std::uint32_t way);
  std::uint32_t follow_tree(const SetView& view) const;
  void move_to_front(const SetView& view, std::uint32_t slot);
  void guard(const SetView& view, std::uint32_t slot);
  bool is_guarded(const SetView& view, std::uint32_t slot) const;
  std::uint32_t oldest_unguarded(const SetView& view) const;
  std::uint32_t pass_clock(const SetView& view);
  std::uint32_t distant(const SetView& view);
  std::uint8_t insertion_distance(const SetView& view);
  std::uint32_t draw_weighted(const SetView& view);

  Policy policy_;
  std::vector<double> cumulative_weights_;
  Random random_{0};
  bool draws_;   // victims by chance alone: uses change nothing
  bool packed_;  // lru and fifo of narrow sets keep their order in the record
  /// Neighbours in the order of last use (lru) or fill (fifo) of wide sets, newest first.
  struct Link {
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
  };
  static constexpr std::uint32_t nobody = ~0u;
  /// Slots of the last two hits in a set, the later one last.
  struct Guard {
    std::uint32_t earlier = nobody;
    std::uint32_t later = nobody;
  };
  std::vector<Guard> guards_;         // by set: guarded lru
  std::vector<Link> links_;           // by slot
  std::vector<Link> ends_;            // by set: oldest and newest slot
  std::vector<std::uint8_t> marks_;   // nru, clock: used bit; srrip and kin: distance; tree: node
  std::vector<std::uint32_t> hands_;  // clock
  int brrip_votes_ = 0;               // set duelling: misses in SRRIP minus in BRRIP leaders
};

}  // namespace sonde::sim
