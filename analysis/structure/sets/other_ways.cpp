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

std::optional<Lines> find_fitting_that_overflow(const LinePool& space, std::uint32_t ways,
                                                const MissOracle& ask) {
  constexpr std::size_t random_lists = 24;
  constexpr std::uint64_t fewest_lines = 4;
  const std::uint64_t lines = space.span_bytes / space.line_bytes;
  if (ways < fewest_lines || lines < ways) return std::nullopt;
  std::vector<Lines> lists;
  Random random(derive_seed(space.seed, "strides"));
  for (std::uint64_t stride = 2; lines / stride >= fewest_lines; stride *= 2) {
    const std::uint64_t length = std::min<std::uint64_t>(ways, lines / stride);
    const std::uint64_t start = random.below(lines - (length - 1) * stride);
    Lines& list = lists.emplace_back();
    for (std::uint64_t i = 0; i < length; ++i)
      list.push_back((start + i * stride) * space.line_bytes);
  }
  for (std::size_t i = 0; i < random_lists; ++i) {
    lists.push_back(
        choose_lines(space, ways, derive_seed(space.seed, "fitting " + std::to_string(i))));
  }
  const std::vector<bool> grown = overflow_once(lists, ask);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Lines other_order = shuffled(lists[i], derive_seed(space.seed, "other order"));
    if (grown[i] && overflows(other_order, ask)) return std::move(lists[i]);
  }
  return std::nullopt;
}

}  // namespace sonde
