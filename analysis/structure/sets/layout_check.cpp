// Predicted overflows of sets against seen ones.
#include "analysis/structure/sets/layout_check.hpp"

#include "analysis/structure/sets/ways_per_set.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace sonde {
namespace {

/// Random lines of known sets, a quarter more than what fits at least.
std::vector<Lines> choose_lists(const LinePool& space, const SetOfLine& set_of_line,
                                std::size_t fitting_lines) {
  constexpr std::uint64_t chases = 6;
  const auto length =
      static_cast<std::uint64_t>(std::max(1.25 * static_cast<double>(fitting_lines), 8.0));
  std::vector<Lines> lists;
  for (std::uint64_t chase = 0; chase < chases; ++chase) {
    Lines lines =
        choose_lines(space, 4 * length, derive_seed(space.seed, "check " + std::to_string(chase)));
    std::erase_if(lines, [&](std::uint64_t line) { return !set_of_line(line); });
    lines.resize(std::min<std::size_t>(length, lines.size()));
    lists.push_back(std::move(lines));
  }
  return lists;
}

}  // namespace

void check_layout(const LinePool& space, const std::vector<std::uint32_t>& ways_by_set,
                  const SetOfLine& set_of_line, const MissOracle& ask, SetLayout& found) {
  struct Seen {
    std::uint32_t lines = 0;
    std::uint32_t misses = 0;
  };
  const std::vector<Lines> lists = choose_lists(space, set_of_line, found.conflict->fitting_lines);
  const std::vector<MissCounts> answers = ask(lists);
  std::uint64_t checked = 0;
  std::uint64_t right = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    std::map<std::uint64_t, Seen> sets;
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      Seen& seen = sets[*set_of_line(lists[list][i])];
      ++seen.lines;
      seen.misses += answers[list].misses[i];
    }
    for (const auto& [set, seen] : sets) {
      ++checked;
      right += set_overflows(seen.misses, answers[list].passes) == (seen.lines > ways_by_set[set]);
    }
  }
  found.checked_sets = checked;
  found.agreement = checked == 0 ? 0 : static_cast<double>(right) / static_cast<double>(checked);
}

}  // namespace sonde
