// Mei and Chu's access patterns P1 to P6 (2016, section 5.2), from one chase whose phases show one
// pattern each: which patterns this device has, and their latencies.
#pragma once

#include "analysis/results.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Outcome in the data cache, the first TLB level and the outer TLB levels.
enum class Pattern {
  p1,  // hit, hit
  p2,  // hit, miss, hit
  p3,  // hit, miss, miss
  p4,  // miss, hit
  p5,  // miss, miss, miss: a page never accessed before
  p6,  // like P5, and the page tables of the page were not active
};
inline constexpr std::size_t pattern_count = 6;

/// Latencies of the phase of each pattern; empty without such a phase.
using PatternLatencies = std::array<std::vector<double>, pattern_count>;

struct PatternFinding {
  Status status = Status::not_resolvable;
  double cycles = 0;   // if ok
  std::string reason;  // why there is no value, or a remark
  std::size_t samples = 0;
  double spread_cycles = 0;
  double low_cycles = 0;  // bounds of the group that gave the value
  double high_cycles = 0;
  double confidence = 0;     // fraction of the samples in this group
  bool is_of_parts = false;  // sum of P1 and a TLB miss, each measured elsewhere: no samples
};

/// Results of another measurement of the TLB.
struct KnownTlb {
  bool exists = false;
  std::optional<double> first_miss_cycles = {};  // cost of a miss of the first level, beyond a hit
  std::optional<double> last_miss_cycles = {};   // cost of a miss of all levels
  bool has_outer_level = false;                  // beyond the first level
  bool ends = false;                             // no level lies beyond the known ones
  std::optional<double> translated_cycles = {};  // hits at least this slow wait for a translation
};

/// A pattern that costs no more than the pattern it was built to exceed does not exist: no data
/// cache (P1 as slow as P4), hits need no translation (P2 or P3 as fast as P1), no TLB (P5 as fast
/// as P4, unless a TLB is known).
/// P1 to P3 (hits) take the most common group of latencies, as a few pages may have kept their
/// translation; in a divided L2 the middle of both groups. P2 and P3 stay open if they cost far
/// more than P1 and a TLB miss: the cache then lost their lines. If their phase shows nothing, they
/// are P1 plus the known TLB miss, provided that hits need a translation. If P4 to P6 (memory) have
/// two groups, these are two partitions: the value is the near one, the reason names the far one.
/// @param least_step_cycles smaller differences are noise
std::array<PatternFinding, pattern_count> infer_patterns(const PatternLatencies& latencies,
                                                         double least_step_cycles,
                                                         const KnownTlb& known = {});

}  // namespace sonde
