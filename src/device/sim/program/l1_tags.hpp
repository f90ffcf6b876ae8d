// The tags of an L1 whose misses take time: a line on its way keeps its tag and an MSHR, and an
// access that finds no resource must try again.
#pragma once

#include "device/probe/program_probe.hpp"
#include "device/sim/memory/set_index.hpp"
#include "device/sim/program/memory_side.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace sonde::sim {

/// Which set a line lies in: by the model, or by a change of the machine.
struct LineToSet {
  SetIndex index;  // of addresses
  std::uint64_t line_bytes = 128;

  std::uint32_t operator()(std::uint64_t line) const { return index(line * line_bytes); }
};

struct L1Model {
  std::uint32_t sets = 0;
  std::uint32_t ways = 0;
  LineToSet set_of;
  std::uint64_t fetch_bytes = 128;  // that a miss brings
  std::uint32_t mshr_merges = 8;    // accesses that wait for one line
  bool update_on_store = true;      // a store that hits keeps the line; else it drops it
  bool protects = false;            // lines, for a learnt reuse distance
};

enum class L1Outcome {
  hit,
  merged,    // waits for a line on its way
  miss,      // takes an MSHR; reserve() must follow
  stalled,   // no tag or no merging is free: try again at `time`
  bypassed,  // every line is protected
};

struct L1Answer {
  L1Outcome outcome = L1Outcome::hit;
  double time = 0;         // merged: data come; stalled: when to try again
  Sectors fetched = 0;     // miss
  std::uint32_t slot = 0;  // miss: for reserve
};

class L1Tags {
 public:
  explicit L1Tags(const L1Model& model)
      : model_(model), tags_(std::size_t{model.sets} * model.ways) {
    if (!model_.protects) return;
    const std::size_t sampled = (model.sets + sampled_ratio - 1) / sampled_ratio;
    distances_.recent.assign(sampled, std::vector<std::uint64_t>(longest_distance, no_line));
    distances_.next.assign(sampled, 0);
    distances_.reused.assign(longest_distance, 0);
    distances_.protecting = model.ways;  // as LRU, until a distance is learnt
  }

  /// Empties all tags.
  void clear() { std::ranges::fill(tags_, Tag{}); }

  /// Begins an access to a line; called once, even if the access must be tried again.
  void begin_access(std::uint64_t line) {
    if (model_.protects) age(line);
  }
  /// A load of some sectors of a line. A miss changes nothing until reserve().
  L1Answer look_up(const LineAccess& access, double time) {
    Tag* victim = nullptr;
    double earliest = INFINITY;
    double earliest_unprotected = INFINITY;  // of lines on their way
    for (Tag& tag : tags_of(model_.set_of(access.line))) {
      if (tag.line == access.line) {
        const Sectors missing = access.sectors & ~tag.sectors;
        if (missing == 0 && tag.filled <= time) {
          tag.used = ++accesses_;
          if (model_.protects) tag.protected_for = distances_.protecting;
          return {.outcome = L1Outcome::hit, .time = time};
        }
        if (missing == 0) {
          if (tag.waiting >= model_.mshr_merges) {
            return {.outcome = L1Outcome::stalled, .time = tag.filled};
          }
          ++tag.waiting;
          tag.used = ++accesses_;
          return {.outcome = L1Outcome::merged, .time = tag.filled};
        }
        return {.outcome = L1Outcome::miss,
                .fetched = missing_of(missing),
                .slot = static_cast<std::uint32_t>(&tag - tags_.data())};
      }
      if (tag.filled > time) {
        earliest = std::min(earliest, tag.filled);
        if (tag.protected_for == 0) {
          earliest_unprotected = std::min(earliest_unprotected, tag.filled);
        }
        continue;
      }
      if (tag.protected_for > 0 && tag.line != no_line) continue;
      if (victim == nullptr || tag.used < victim->used) victim = &tag;
    }
    if (victim == nullptr) {
      // All lines are on their way or protected: waits for an unprotected line on its way, if any.
      if (!model_.protects) return {.outcome = L1Outcome::stalled, .time = earliest};
      if (std::isinf(earliest_unprotected)) return {.outcome = L1Outcome::bypassed, .time = time};
      return {.outcome = L1Outcome::stalled, .time = earliest_unprotected};
    }
    return {.outcome = L1Outcome::miss,
            .fetched = missing_of(access.sectors),
            .slot = static_cast<std::uint32_t>(victim - tags_.data())};
  }
  /// Takes the tag for a miss whose data come at `filled`.
  /// @param keep false: the line is the first to go
  void reserve(const LineAccess& access, const L1Answer& miss, double filled, bool keep) {
    Tag& tag = tags_[miss.slot];
    if (tag.line != access.line) tag = {.line = access.line};
    tag.sectors |= miss.fetched;
    tag.filled = std::max(tag.filled, filled);
    tag.waiting = 1;
    tag.used = keep ? ++accesses_ : 0;
    if (model_.protects) tag.protected_for = distances_.protecting;
  }
  void store(const LineAccess& access) {
    if (model_.update_on_store) return;
    for (Tag& tag : tags_of(model_.set_of(access.line))) {
      if (tag.line == access.line) tag = {.filled = tag.filled};
    }
  }

 private:
  struct Tag {
    std::uint64_t line = no_line;
    std::uint64_t used = 0;
    double filled = 0;
    Sectors sectors = 0;
    std::uint32_t waiting = 0;
    std::uint32_t protected_for = 0;  // accesses to the set
  };
  static constexpr std::uint64_t no_line = ~std::uint64_t{0};
  // Duong et al. 2012 sample a few sets, count distances up to 256 and choose anew at intervals; an
  // L1 of 4 ways needs shorter distances.
  static constexpr std::uint32_t sampled_ratio = 8;
  static constexpr std::uint32_t longest_distance = 64;
  static constexpr std::uint64_t period_accesses = 1024;  // to sampled sets

  /// The protecting distance of Duong et al. (MICRO 2012). Reuse distances are counted in accesses
  /// to sampled sets; the distance with the most hits for the time that lines stay is taken.
  struct Distances {
    std::vector<std::vector<std::uint64_t>> recent;  // lines, by sampled set, as a ring
    std::vector<std::uint32_t> next;
    std::vector<std::uint64_t> reused;  // by distance
    std::uint64_t accesses = 0;
    std::uint32_t protecting = 0;
  };
  std::span<Tag> tags_of(std::uint32_t set) {
    return std::span(tags_).subspan(std::size_t{set} * model_.ways, model_.ways);
  }
  /// Protects every line of the set for one access less.
  void age(std::uint64_t line) {
    const std::uint32_t set = model_.set_of(line);
    for (Tag& tag : tags_of(set)) {
      if (tag.protected_for > 0) --tag.protected_for;
    }
    if (set % sampled_ratio == 0) sample(set / sampled_ratio, line);
  }
  void sample(std::uint32_t set, std::uint64_t line) {
    std::vector<std::uint64_t>& recent = distances_.recent[set];
    std::uint32_t& next = distances_.next[set];
    for (std::uint32_t distance = 1; distance <= longest_distance; ++distance) {
      if (recent[(next + longest_distance - distance) % longest_distance] != line) continue;
      ++distances_.reused[distance - 1];
      break;
    }
    recent[next] = line;
    next = (next + 1) % longest_distance;
    if (++distances_.accesses >= period_accesses) choose_distance();
  }
  /// Maximises hits / accesses for which lines stay. A line reused within the distance stays until
  /// its reuse. Another line stays for the whole distance, and `ways` accesses more until it is
  /// evicted (Duong et al. 2012, section 3, E(d_p)).
  void choose_distance() {
    double hits = 0;
    double stay = 0;
    double best = 0;
    const auto all = static_cast<double>(distances_.accesses);
    for (std::uint32_t distance = 1; distance <= longest_distance; ++distance) {
      const auto reused = static_cast<double>(distances_.reused[distance - 1]);
      hits += reused;
      stay += reused * distance;
      const double gain = hits / (stay + (all - hits) * (distance + model_.ways));
      if (gain <= best) continue;
      best = gain;
      distances_.protecting = distance;
    }
    for (std::uint64_t& count : distances_.reused) count /= 2;
    distances_.accesses /= 2;
  }

  Sectors missing_of(Sectors sectors) const {
    return fetched_sectors(sectors, model_.fetch_bytes, model_.set_of.line_bytes);
  }

  L1Model model_;
  std::vector<Tag> tags_;
  std::uint64_t accesses_ = 0;
  Distances distances_;
};

}  // namespace sonde::sim
