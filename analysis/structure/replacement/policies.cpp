// The policies, each in a few lines; linear searches are fast enough for hundreds of ways.
#include "analysis/structure/replacement/policies.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace sonde {
namespace {

constexpr std::array model_rules = {
    ModelRule{.policy = Policy::lru},
    ModelRule{.policy = Policy::fifo},
    ModelRule{.policy = Policy::tree_plru},
    ModelRule{.policy = Policy::nru},
    ModelRule{.policy = Policy::clock},
    ModelRule{.policy = Policy::srrip},
    ModelRule{.policy = Policy::guarded_lru},
    ModelRule{.policy = Policy::tree_plru,
              .variant = "the tree chooses empty ways too",
              .fill = ModelRule::Fill::by_tree},
};

// SRRIP: the distant re-reference interval, and that of a new line (Jaleel 2010).
constexpr std::uint8_t distant_interval = 3;
constexpr std::uint8_t inserted_interval = 2;
constexpr std::size_t guarded_hits = 2;  // guarded LRU; of one line or several

bool keeps_times(Policy policy) {
  return policy == Policy::lru || policy == Policy::fifo || policy == Policy::guarded_lru;
}

}  // namespace

std::string_view to_text(Policy policy) {
  switch (policy) {
    case Policy::lru: return "LRU";
    case Policy::fifo: return "FIFO";
    case Policy::tree_plru: return "tree PLRU";
    case Policy::nru: return "NRU";
    case Policy::clock: return "CLOCK";
    case Policy::srrip: return "SRRIP";
    case Policy::guarded_lru: return "LRU guarding the last two hits";
    case Policy::random: return "random";
    case Policy::weighted_ways: return "weighted ways";
    case Policy::set_duelling: return "set duelling";
  }
  return "unknown";
}

std::span<const ModelRule> all_model_rules() { return model_rules; }

SetModel::SetModel(const ModelRule& rule, std::uint32_t ways, std::size_t lines)
    : rule_(rule), ways_(ways), way_of_(lines, nowhere), line_in_(ways, nowhere) {
  if (keeps_times(rule.policy)) {
    touched_.resize(ways);
  } else {
    marks_.resize(rule.policy == Policy::tree_plru ? std::bit_ceil(ways) : ways);
  }
}

bool SetModel::access(std::uint16_t line) {
  ++now_;
  if (holds(line)) {
    on_hit(way_of_[line]);
    return false;
  }
  const bool empty_first = rule_.fill != ModelRule::Fill::by_tree && filled_ < ways_;
  const std::uint32_t way = empty_first ? filled_++ : victim();
  if (line_in_[way] != nowhere) way_of_[line_in_[way]] = nowhere;
  line_in_[way] = line;
  way_of_[line] = way;
  on_fill(way);
  return true;
}

bool SetModel::is_guarded(std::uint32_t way) const {
  return std::ranges::find(guard_, way) != guard_.end();
}

void SetModel::guard(std::uint32_t way) {
  guard_.push_back(way);
  if (guard_.size() <= guarded_hits) return;
  const std::uint32_t released = guard_.front();
  guard_.erase(guard_.begin());
  if (!is_guarded(released)) touched_[released] = now_;
}

/// If the guard is as large as the set, all ways may be guarded: then the oldest guarded way.
std::uint32_t SetModel::oldest_unguarded() const {
  std::uint32_t oldest = nowhere;
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (is_guarded(way)) continue;
    if (oldest == nowhere || touched_[way] < touched_[oldest]) oldest = way;
  }
  return oldest == nowhere ? guard_.front() : oldest;
}

std::uint32_t SetModel::victim() {
  switch (rule_.policy) {
    case Policy::guarded_lru: return oldest_unguarded();
    case Policy::tree_plru: return follow_tree();
    case Policy::nru: return first_unused();
    case Policy::clock: return pass_hand();
    case Policy::srrip: return distant_way();
    default:
      return static_cast<std::uint32_t>(std::ranges::min_element(touched_) - touched_.begin());
  }
}

void SetModel::on_hit(std::uint32_t way) {
  if (rule_.policy == Policy::srrip) {
    marks_[way] = 0;
  } else if (rule_.policy == Policy::guarded_lru) {
    guard(way);
  } else if (rule_.policy != Policy::fifo) {
    mark(way);
  }
}

void SetModel::on_fill(std::uint32_t way) {
  std::erase(guard_, way);
  if (rule_.policy == Policy::srrip) {
    marks_[way] = inserted_interval;
  } else {
    mark(way);
  }
}

void SetModel::mark(std::uint32_t way) {
  if (!touched_.empty()) {
    touched_[way] = now_;
  } else if (rule_.policy == Policy::tree_plru) {
    point_away(way);
  } else {
    mark_used(way);
  }
}

/// NRU: the last bit to be set clears the others.
void SetModel::mark_used(std::uint32_t way) {
  marks_[way] = 1;
  if (rule_.policy != Policy::nru || std::ranges::find(marks_, 0) != marks_.end()) return;
  std::ranges::fill(marks_, std::uint8_t{0});
  marks_[way] = 1;
}

/// NRU: the first way whose used bit is not set.
std::uint32_t SetModel::first_unused() const {
  const auto unused = std::ranges::find(marks_, 0);
  return unused == marks_.end() ? 0 : static_cast<std::uint32_t>(unused - marks_.begin());
}

/// CLOCK: the first way, from the hand on, whose used bit is not set; the hand clears set bits.
std::uint32_t SetModel::pass_hand() {
  const auto next = [&](std::uint32_t way) { return way + 1 == ways_ ? 0 : way + 1; };
  std::uint32_t way = hand_;
  for (; marks_[way] != 0; way = next(way)) marks_[way] = 0;
  hand_ = next(way);
  return way;
}

/// The first way at the distant interval, after all intervals have grown until one is distant.
std::uint32_t SetModel::distant_way() {
  const auto farthest = std::ranges::max_element(marks_);
  const int step = distant_interval - *farthest;
  for (std::uint8_t& mark : marks_) mark = static_cast<std::uint8_t>(mark + step);
  return static_cast<std::uint32_t>(farthest - marks_.begin());
}

/// Nodes are numbered as in a heap, from 1. If the ways are not 2^n, they use the left part of the
/// next larger tree. Every node above the used leaf points to its other child.
void SetModel::point_away(std::uint32_t way) {
  std::uint32_t node = 1;
  for (std::uint32_t half = std::bit_ceil(ways_) / 2; half > 0; half /= 2) {
    const bool right = (way & half) != 0;
    marks_[node] = right ? 0 : 1;
    node = 2 * node + (right ? 1 : 0);
  }
}

std::uint32_t SetModel::follow_tree() const {
  std::uint32_t node = 1;
  std::uint32_t way = 0;
  for (std::uint32_t half = std::bit_ceil(ways_) / 2; half > 0; half /= 2) {
    const bool right = marks_[node] != 0 && way + half < ways_;
    way += right ? half : 0;
    node = 2 * node + (right ? 1 : 0);
  }
  return way;
}

std::vector<bool> play_trace(const ModelRule& rule, std::uint32_t ways,
                             const std::vector<std::uint16_t>& lines) {
  const std::size_t ids = lines.empty() ? 0 : std::size_t{*std::ranges::max_element(lines)} + 1;
  SetModel set(rule, ways, ids);
  std::vector<bool> missed;
  missed.reserve(lines.size());
  for (std::uint16_t line : lines) missed.push_back(set.access(line));
  return missed;
}

}  // namespace sonde
