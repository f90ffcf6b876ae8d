// Replacement policies on flat arrays: who leaves a full set. One object serves all sets of one
// cache array; ways of set s are the slots first_slot .. first_slot + ways - 1.
#pragma once

#include "base/random.hpp"
#include "device/sim/host.hpp"
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
  /// True if the order of the sets is not kept in their records.
  bool has_links() const { return !links_.empty(); }
  /// Tells that this set will be accessed soon, as CacheArray::expect. @pre has_links()
  void expect(std::uint32_t set, std::uint32_t first_slot) const {
    fetch_ahead(&ends_[set]);
    fetch_ahead(&links_[first_slot]);
    if (!guards_.empty()) fetch_ahead(&guards_[set]);
  }
  void on_hit(const SetView& view, std::uint32_t way) {
    switch (keeping_) {
      case Keeping::nothing: return;
      case Keeping::packed_lru: return packed_order::move_to_front(view.record.order(), way);
      case Keeping::packed_fifo: return;
      case Keeping::packed_guarded_lru: return guard_hit(view, way);
      case Keeping::apart: return mark_hit(view, way);
    }
  }
  void on_fill(const SetView& view, std::uint32_t way) {
    switch (keeping_) {
      case Keeping::nothing: return;
      case Keeping::packed_guarded_lru: forget_guarded(view, way); [[fallthrough]];
      case Keeping::packed_lru:
      case Keeping::packed_fifo: return packed_order::move_to_front(view.record.order(), way);
      case Keeping::apart: return mark_fill(view, way);
    }
  }
  /// The way to replace in a full set.
  std::uint32_t victim(const SetView& view) {
    return keeping_ == Keeping::packed_lru || keeping_ == Keeping::packed_fifo
               ? packed_order::oldest(view.record.order(), view.ways)
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
  void forget_guarded(const SetView& view, std::uint32_t way);
  std::uint32_t oldest_unguarded(const SetView& view) const;
  std::uint32_t pass_clock(const SetView& view);
  std::uint32_t distant(const SetView& view);
  std::uint8_t insertion_distance(const SetView& view);
  std::uint32_t draw_weighted(const SetView& view);

  Policy policy_;
  std::vector<double> cumulative_weights_;
  Random random_{0};
  /// What uses of a set change: nothing if victims are drawn by chance alone; for the policies with
  /// an order, in narrow sets, the order in the record; else the vectors below.
  enum class Keeping { nothing, packed_lru, packed_fifo, packed_guarded_lru, apart };
  Keeping keeping_;
  static Keeping keeping(const Geometry& geometry);
  /// Neighbours in the order of last use (lru) or fill (fifo) of wide sets, newest first.
  struct Link {
    std::uint32_t newer = 0;
    std::uint32_t older = 0;
  };
  static constexpr std::uint32_t nobody = ~0u;
  std::vector<Guard> guards_;         // by set: guarded lru of wide sets
  std::vector<Link> links_;           // by slot
  std::vector<Link> ends_;            // by set: oldest and newest slot
  std::vector<std::uint8_t> marks_;   // nru, clock: used bit; srrip and kin: distance; tree: node
  std::vector<std::uint32_t> hands_;  // clock
  int brrip_votes_ = 0;               // set duelling: misses in SRRIP minus in BRRIP leaders
};

}  // namespace sonde::sim
