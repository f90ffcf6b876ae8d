// One cache set under each known deterministic replacement policy: what records of a real set are
// compared with, and what the chases that distinguish policies are made from.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

/// set_duelling is no policy of one set: some follow SRRIP, and some insert most lines to leave at
/// once (BRRIP; Jaleel 2010). It is not looked for.
enum class Policy {
  lru,
  fifo,
  tree_plru,
  nru,
  clock,
  srrip,
  guarded_lru,  // lines of the last hits cannot leave, and become youngest when later hits push
                // them out of that guard; seen in the L1 of the H200 (docs/methods/replacement.md)
  random,
  weighted_ways,
  set_duelling
};

/// "LRU", "tree PLRU", "weighted ways", ...
std::string_view to_text(Policy policy);

/// How one policy, in one of its variants, is played. Invalid ways are filled first, in order,
/// unless a tree chooses them.
struct ModelRule {
  Policy policy = Policy::lru;
  std::string_view variant = {};  // empty: the usual one

  enum class Fill { as_hit, unmarked, by_tree } fill = Fill::as_hit;
  /// Used bits: cleared by the last way to be used, only when a victim is looked for and there is
  /// none, or by a hand that passes.
  enum class Clearing { by_last_used, for_victim, by_hand } clearing = Clearing::by_last_used;
  enum class Search { from_way_0, after_last_victim } search = Search::from_way_0;
  /// Re-reference intervals (SRRIP): the distant one, that of a new line, and what a hit does.
  std::uint8_t distant = 3;
  std::uint8_t inserted = 2;
  enum class Promotion { to_zero, by_one } promotion = Promotion::to_zero;
  std::uint8_t guarded_hits = 2;  // guarded LRU: so many hits, of one line or of several
};

/// Every deterministic candidate, the usual variant of each policy before the others.
std::span<const ModelRule> all_model_rules();

/// A set that starts empty.
class SetModel {
 public:
  /// @param lines ids of lines are below this number
  SetModel(const ModelRule& rule, std::uint32_t ways, std::size_t lines);

  /// Accesses a line. @return whether it missed
  bool access(std::uint16_t line);

  bool holds(std::uint16_t line) const { return way_of_[line] != nowhere; }

 private:
  std::uint32_t victim();
  std::uint32_t unused_way();
  std::uint32_t distant_way();
  std::uint32_t follow_tree() const;
  void mark(std::uint32_t way);
  void mark_used(std::uint32_t way);
  void point_away(std::uint32_t way);
  std::uint32_t oldest_unguarded() const;
  void guard(std::uint32_t way);
  bool is_guarded(std::uint32_t way) const;
  void on_hit(std::uint32_t way);
  void on_fill(std::uint32_t way);

  static constexpr std::uint32_t nowhere = ~0U;

  ModelRule rule_;
  std::uint32_t ways_;
  std::uint32_t filled_ = 0;            // ways in use: the first ones, unless a tree fills
  std::vector<std::uint32_t> way_of_;   // by line
  std::vector<std::uint32_t> line_in_;  // by way; nowhere: empty
  std::vector<std::uint64_t> touched_;  // LRU: time of last use, FIFO: of fill, guarded: of the
                                        // fill or of leaving the guard
  std::vector<std::uint32_t> guard_;    // ways of the last hits, oldest first
  std::vector<std::uint8_t> marks_;     // used bits or intervals, by way; tree: by node
  std::uint32_t hand_ = 0;              // where the next search begins
  std::uint64_t now_ = 0;
};

/// What a model says of a chase from an empty set: missed or not, access by access.
std::vector<bool> play_trace(const ModelRule& rule, std::uint32_t ways,
                             const std::vector<std::uint16_t>& lines);

}  // namespace sonde
