// One cache set under each known deterministic replacement policy: compared with records of a real
// set, and used to make the chases that distinguish policies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sonde {

/// set_duelling is no policy of one set: some sets follow SRRIP, some insert most lines so that
/// they leave at once (BRRIP; Jaleel 2010). It is not searched for.
enum class Policy {
  lru,
  fifo,
  tree_plru,
  nru,
  clock,
  srrip,
  guarded_lru,  // lines of the last hits cannot leave; they become youngest when later hits push
                // them out of the guard. Seen in the L1 of the H200 (docs/methods/replacement.md)
  random,
  weighted_ways,
  set_duelling
};

/// "LRU", "tree PLRU", "weighted ways", ...
std::string_view to_text(Policy policy);

/// How to play a policy in one of its variants. Fills empty ways first, in order, unless a tree
/// chooses.
struct ModelRule {
  Policy policy = Policy::lru;
  std::string_view variant = {};  // empty: the usual variant

  enum class Fill { in_order, by_tree } fill = Fill::in_order;
};

/// All deterministic candidates; the usual variants come first.
std::span<const ModelRule> all_model_rules();

/// A cache set that starts empty.
class SetModel {
 public:
  /// @param lines all line ids are below this number
  SetModel(const ModelRule& rule, std::uint32_t ways, std::size_t lines);

  /// Accesses a line. @return true if it missed
  bool access(std::uint16_t line);

  bool holds(std::uint16_t line) const { return way_of_[line] != nowhere; }

 private:
  std::uint32_t victim();
  std::uint32_t first_unused() const;
  std::uint32_t pass_hand();
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
  std::uint32_t filled_ = 0;           // number of ways in use: the first ones, unless a tree fills
  std::vector<std::uint32_t> way_of_;  // by line
  std::vector<std::uint32_t> line_in_;  // by way; nowhere: empty
  std::vector<std::uint64_t> touched_;  // LRU: time of last use; FIFO: of fill; guarded: of the
                                        // fill or of leaving the guard
  std::vector<std::uint32_t> guard_;    // ways of the last hits, oldest first
  std::vector<std::uint8_t> marks_;     // used bits or intervals, by way; tree: by node
  std::uint32_t hand_ = 0;              // where the next search begins
  std::uint64_t now_ = 0;
};

/// For each access of a chase that starts with an empty set, whether it misses.
std::vector<bool> play_trace(const ModelRule& rule, std::uint32_t ways,
                             const std::vector<std::uint16_t>& lines);

}  // namespace sonde
