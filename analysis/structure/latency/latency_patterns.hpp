// Mei and Chu's access patterns P1 to P6 from the latencies of one chase whose phases were built to
// show one pattern each (2016, section 5.2): which of them this device has, and what they cost.
#pragma once

#include "analysis/results.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Data cache, first TLB level, outer TLB levels.
enum class Pattern {
  p1,  // hit, hit
  p2,  // hit, miss, hit
  p3,  // hit, miss, miss
  p4,  // miss, hit
  p5,  // miss, miss, miss: a page never touched before
  p6,  // the same, and its page tables were not active
};
inline constexpr std::size_t pattern_count = 6;

/// Latencies by pattern as the phases were meant; empty where there was no such phase.
using PatternLatencies = std::array<std::vector<double>, pattern_count>;

struct PatternFinding {
  Status status = Status::not_resolvable;  // or ok, or not_present on this device
  double cycles = 0;                       // if ok
  std::string reason;                      // why not, or what to know about the value
  std::size_t samples = 0;
  double spread_cycles = 0;
  double low_cycles = 0;  // of the group that gave the value
  double high_cycles = 0;
  double confidence = 0;     // its share of the samples
  bool is_of_parts = false;  // P1 and the miss of a TLB, measured apart: there are no samples
};

/// What another measurement saw of the TLB.
struct KnownTlb {
  bool exists = false;
  std::optional<double> first_miss_cycles = {};  // a miss of the first level costs beyond a hit
  std::optional<double> last_miss_cycles = {};   // of all levels
  bool has_outer_level = false;                  // beyond the first one
  bool ends = false;                             // no level lies beyond those that are known
  std::optional<double> translated_cycles = {};  // hits that take so much wait for translations
};

/// A pattern that costs no more than the one it was built to exceed does not exist: no data cache
/// (P1 as slow as P4), hits that need no translation (P2 or P3 as fast as P1), no TLB (P5 as fast
/// as P4, unless one is known). Hits (P1 to P3) take the commonest group of latencies: a few of
/// their pages may have kept their translation. P2 and P3 are left open if they cost far more
/// beyond P1 than such a miss: then the cache lost their lines. Where the phase of one says
/// nothing, it is P1 and the miss that another measurement saw, if hits surely need a translation.
/// Where those of memory (P4 to P6) fall into two groups, the partitions of a device with two, the
/// value is that of the near one and the reason names the other.
/// @param least_step_cycles smaller differences are noise
std::array<PatternFinding, pattern_count> infer_patterns(const PatternLatencies& latencies,
                                                         double least_step_cycles,
                                                         const KnownTlb& known = {});

}  // namespace sonde
