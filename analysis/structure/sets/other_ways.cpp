// A smallest list of lines that overflows, from the lines of other sets.
#include "analysis/structure/sets/other_ways.hpp"

#include "analysis/structure/sets/set_lines.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sonde {

bool others_show_their_ways(const IndexFunction& index, const LinePool& space,
                            const std::vector<std::uint32_t>& ways, std::uint64_t home,
                            std::size_t most_more, const MissOracle& ask) {
  constexpr std::size_t asked_sets = 2;
  constexpr std::size_t disturbed = 1;  // other misses make a set look smaller
  std::vector<std::uint64_t> different;
  for (std::uint64_t set = 0; set < ways.size(); ++set) {
    if (ways[set] != ways[home]) different.push_back(set);
  }
  different = shuffled(std::move(different), derive_seed(space.seed, "other ways"));
  different.resize(std::min(different.size(), asked_sets));
  return std::ranges::all_of(different, [&](std::uint64_t set) {
    std::string no_conflict;
    const auto conflict = find_eviction_set_in_any_order(
        lines_of_set(index, space, set, std::size_t{2} * std::max(ways[set], ways[home])), ask,
        no_conflict);
    return !conflict || (conflict->ways() + disturbed >= ways[set] &&
                         conflict->ways() <= ways[set] + disturbed + most_more);
  });
}

}  // namespace sonde
