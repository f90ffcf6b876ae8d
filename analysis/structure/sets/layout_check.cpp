// Each list has lines of many sets, and overfills some of them.
#include "analysis/structure/sets/layout_check.hpp"

#include "analysis/structure/sets/line_pool.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Lists of random lines of known sets; each a quarter longer than `fitting_lines`. A list without
/// any such line is left out.
std::vector<Lines> choose_lists(const LinePool& space, const SetOfLine& set_of_line,
                                std::size_t fitting_lines, std::size_t chases) {
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

/// The misses of a chase, for each set of its lines.
std::map<std::uint64_t, SetMisses> misses_by_set(const Lines& list, const MissCounts& seen,
                                                 const SetOfLine& set_of_line) {
  std::map<std::uint64_t, SetMisses> sets;
  for (std::size_t i = 0; i < list.size(); ++i) sets[*set_of_line(list[i])].add(seen.misses[i]);
  return sets;
}

/// Number of sets that contradict the ways: overfull sets that did not overflow, and other sets
/// that overflowed in every order of the lines (some policies do so in some orders).
std::size_t count_contradicting(const Lines& list, const MissCounts& first,
                                const std::vector<std::uint32_t>& ways_by_set,
                                const SetOfLine& set_of_line, const MissOracle& ask) {
  constexpr std::uint64_t orders = 4;
  std::size_t fitting_though_overfull = 0;
  std::set<std::uint64_t> overflowing;  // although they should fit
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

Predictions check_ways(const std::vector<std::uint32_t>& ways_by_set, const SetOfLine& set_of_line,
                       const LinePool& space, std::size_t fitting_lines, const MissOracle& ask) {
  constexpr std::size_t fewest_chases = 6;
  constexpr std::size_t enough_predictions = 24;  // all right: confidence 0.96
  const std::size_t chases = std::max(fewest_chases, enough_predictions / ways_by_set.size());
  const std::vector<Lines> lists = choose_lists(space, set_of_line, fitting_lines, chases);
  const std::vector<MissCounts> answers = ask(lists);
  Predictions check;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    const std::size_t sets = misses_by_set(lists[list], answers[list], set_of_line).size();
    check.asked += sets;
    check.right +=
        sets - count_contradicting(lists[list], answers[list], ways_by_set, set_of_line, ask);
  }
  return check;
}

bool others_show_their_ways(const IndexFunction& index, const LinePool& space,
                            const std::vector<std::uint32_t>& ways, std::uint64_t home,
                            std::size_t most_more, const MissOracle& ask) {
  constexpr std::size_t asked_sets = 2;
  constexpr std::size_t disturbed = 1;  // other misses make a set look smaller by a way
  std::vector<std::uint64_t> different;
  for (std::uint64_t set = 0; set < ways.size(); ++set) {
    if (ways[set] != ways[home]) different.push_back(set);
  }
  different = shuffled(std::move(different), derive_seed(space.seed, "other ways"));
  different.resize(std::min(different.size(), asked_sets));
  return std::ranges::all_of(different, [&](std::uint64_t set) {
    std::string no_conflict;
    const auto conflict = find_eviction_set(
        lines_of_set(index, space, set, std::size_t{2} * std::max(ways[set], ways[home])), ask,
        no_conflict);
    return !conflict || (conflict->ways() + disturbed >= ways[set] &&
                         conflict->ways() <= ways[set] + disturbed + most_more);
  });
}

std::vector<int> find_odd_sms(const std::vector<std::vector<bool>>& answers,
                              std::size_t least_disagreements) {
  // If more than one SM in ten differs from the rest, the differences are chance.
  constexpr std::size_t most_odd_of = 10;
  constexpr std::size_t fewest_sms = 3;
  std::vector<int> odd_sms;
  if (answers.size() < fewest_sms) return {};
  const std::size_t most_odd = std::max<std::size_t>(1, answers.size() / most_odd_of);
  std::vector<std::size_t> disagreements(answers.size());
  for (std::size_t question = 0; question < answers.front().size(); ++question) {
    const auto yes = static_cast<std::size_t>(
        std::ranges::count_if(answers, [&](const auto& of_sm) { return of_sm[question]; }));
    const bool usual = 2 * yes > answers.size();
    if ((usual ? answers.size() - yes : yes) > most_odd) continue;
    for (std::size_t sm = 0; sm < answers.size(); ++sm) {
      disagreements[sm] += answers[sm][question] != usual;
    }
  }
  std::vector<std::size_t> sorted = disagreements;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  const std::size_t usual = sorted[sorted.size() / 2];
  for (std::size_t sm = 0; sm < answers.size(); ++sm) {
    const bool stands_out =
        disagreements[sm] >= least_disagreements && disagreements[sm] > 4 * usual;
    if (stands_out) odd_sms.push_back(static_cast<int>(sm));
  }
  return odd_sms.size() <= most_odd ? odd_sms : std::vector<int>{};
}

}  // namespace sonde
