// Misses that come again and again, in a half of the passes at least.
#include "analysis/structure/sets/set_misses.hpp"

namespace sonde {

bool set_overflows(const SetMisses& seen, const MissCounts& chase) {
  constexpr std::uint32_t fewest_lines = 4;
  const std::uint32_t passes = chase.passes;
  const std::uint32_t not_seen = passes >= 4 ? passes / 2 : 0;
  if (chase.passes_with_misses + not_seen < passes) return false;
  const bool once = seen.most_of_a_line == 1 && passes > 1 && seen.lines >= fewest_lines &&
                    seen.misses + 1 >= seen.lines;
  return !once && seen.misses >= std::max(2u, (3 * passes + 3) / 4);
}

}  // namespace sonde
