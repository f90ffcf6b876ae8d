// The tags of an L1 whose misses take time: lines that are on their way keep their place, MSHRs
// wait for them, and what finds no place must try again.
#pragma once

#include "device/probe/program_probe.hpp"
#include "device/sim/memory/set_index.hpp"
#include "device/sim/program/memory_side.hpp"

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
  bool update_on_store = true;      // a store that hits leaves the line; else it drops it
  bool protects = false;            // lines, for a reuse distance that is learnt
};

enum class L1Outcome {
  hit,
  merged,    // waits for what is on its way
  miss,      // takes an MSHR: reserve() must be told when the data come
  stalled,   // no line, or no more merging: try again at `time`
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
  explicit L1Tags(const L1Model& model);

  /// Empty.
  void clear();

  /// An access comes to the set of the line, once however often it must be tried.
  void begin_access(std::uint64_t line) {
    if (model_.protects) age(line);
  }
  /// A load of some sectors of a line. A miss changes nothing until reserve().
  L1Answer look_up(const LineAccess& access, double time);
  /// The miss has all that it needs: its data come at `filled`.
  /// @param keep false: the line is the first to go
  void reserve(const LineAccess& access, const L1Answer& miss, double filled, bool keep);
  void store(const LineAccess& access);

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

  /// The protecting distance of Duong et al. (MICRO 2012): reuse distances of some sets are counted
  /// in accesses to the set, and the distance with the most hits for what the lines' stay costs is
  /// taken.
  struct Distances {
    std::vector<std::vector<std::uint64_t>> recent;  // lines, by sampled set, a ring
    std::vector<std::uint32_t> next;
    std::vector<std::uint64_t> reused;  // by distance
    std::uint64_t accesses = 0;
    std::uint32_t protecting = 0;
  };
  std::span<Tag> tags_of(std::uint32_t set) {
    return std::span(tags_).subspan(std::size_t{set} * model_.ways, model_.ways);
  }
  void age(std::uint64_t line);
  void sample(std::uint32_t set, std::uint64_t line);
  void choose_distance();

  Sectors missing_of(Sectors sectors) const {
    return fetched_sectors(sectors, model_.fetch_bytes, model_.set_of.line_bytes);
  }

  L1Model model_;
  std::vector<Tag> tags_;
  std::uint64_t accesses_ = 0;
  Distances distances_;
};

}  // namespace sonde::sim
