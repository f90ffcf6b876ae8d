// Each list has lines of many sets, of some more than they hold.
#include "analysis/structure/sets/layout_check.hpp"

#include "analysis/structure/sets/set_misses.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Random lines of known sets, a quarter more than what fits at least. No list if none is of one.
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
    if (!lines.empty()) lists.push_back(std::move(lines));
  }
  return lists;
}

/// What a chase over lines of known sets showed of each of these.
std::map<std::uint64_t, SetMisses> misses_by_set(const Lines& list, const MissCounts& seen,
                                                 const SetOfLine& set_of_line) {
  std::map<std::uint64_t, SetMisses> sets;
  for (std::size_t i = 0; i < list.size(); ++i) sets[*set_of_line(list[i])].add(seen.misses[i]);
  return sets;
}

/// Sets that a chase contradicts in every order of its lines: those that they overfill and that did
/// not overflow, and those that overflow without need in all orders. Policies that lose lines from
/// sets with free ways do so in some.
std::size_t count_contradicting(const Lines& list, const MissCounts& first,
                                const std::vector<std::uint32_t>& ways_by_set,
                                const SetOfLine& set_of_line, const MissOracle& ask) {
  constexpr std::uint64_t orders = 4;
  std::size_t fitting_though_overfull = 0;
  std::set<std::uint64_t> overflowing;  // that ought to fit
  for (const auto& [set, seen] : misses_by_set(list, first, set_of_line)) {
    const bool is_overfull = seen.lines > ways_by_set[set];
    const bool overflows = set_overflows(seen, first);
    fitting_though_overfull += is_overfull && !overflows;
    if (overflows && !is_overfull) overflowing.insert(set);
  }
  for (std::uint64_t order = 1; order < orders && !overflowing.empty(); ++order) {
    const Lines chased = shuffled(list, order);
    const MissCounts counts = ask(std::span(&chased, 1)).front();
    for (const auto& [set, seen] : misses_by_set(chased, counts, set_of_line))
      if (!set_overflows(seen, counts)) overflowing.erase(set);
  }
  return fitting_though_overfull + overflowing.size();
}

}  // namespace

LayoutCheck check_ways(const std::vector<std::uint32_t>& ways_by_set, const SetOfLine& set_of_line,
                       const LinePool& space, std::size_t fitting_lines, const MissOracle& ask) {
  const std::vector<Lines> lists = choose_lists(space, set_of_line, fitting_lines);
  const std::vector<MissCounts> answers = ask(lists);
  LayoutCheck check;
  std::size_t contradicting = 0;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    check.sets += misses_by_set(lists[list], answers[list], set_of_line).size();
    contradicting += count_contradicting(lists[list], answers[list], ways_by_set, set_of_line, ask);
  }
  if (check.sets > 0)
    check.agreement = 1 - static_cast<double>(contradicting) / static_cast<double>(check.sets);
  return check;
}

}  // namespace sonde
