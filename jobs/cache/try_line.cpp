// Checks lists around the conflict of a set on all SMs at once.
#include "jobs/cache/try_line.hpp"

#include "analysis/structure/sets/conflict_set.hpp"
#include "base/random.hpp"

#include <array>

namespace sonde {
namespace {

/// Moves each line to a random place within it.
Lines at_any_place(Lines lines, std::uint64_t line_bytes, std::uint64_t unit_bytes,
                   Random& random) {
  for (std::uint64_t& line : lines) line += random.below(line_bytes / unit_bytes) * unit_bytes;
  return lines;
}

Lines all_units(const Lines& lines, std::uint64_t line_bytes, std::uint64_t unit_bytes) {
  Lines units;
  for (const std::uint64_t line : lines)
    for (std::uint64_t unit = 0; unit < line_bytes; unit += unit_bytes)
      units.push_back(line + unit);
  return units;
}

}  // namespace

Predictions try_line(CacheProbe& probe, const SetFindings& found, std::uint64_t unit_bytes) {
  constexpr int draws = 12;
  constexpr std::size_t kinds = 3;  // kinds of lists, each against other alternatives
  const SetLayout& layout = found.layout;
  const std::uint64_t line_bytes = found.pool.line_bytes;
  if (!layout.conflict || !can_number_sets(layout.index) || unit_bytes > line_bytes) return {};
  Random random(derive_seed(found.pool.seed, "places in lines"));
  std::vector<Lines> lists;
  std::vector<bool> predicted;
  for (int draw = 0; draw < draws; ++draw) {
    const Lines lines = shuffled(layout.conflict->lines, random());
    lists.push_back(at_any_place(lines, line_bytes, unit_bytes, random));
    predicted.push_back(true);
    const Lines full = slice(lines, 1, lines.size() - 1);
    lists.push_back(all_units(full, line_bytes, unit_bytes));
    predicted.push_back(false);
    Lines with_neighbour = full;
    with_neighbour.push_back(full.front() ^ line_bytes);
    predicted.push_back(set_of(layout.index, full.front()) ==
                        set_of(layout.index, with_neighbour.back()));
    lists.push_back(std::move(with_neighbour));
  }
  const std::vector<bool> overflowed = overflow_once(lists, ask_behind(probe, found.pass_evictors));
  std::array<Predictions, kinds> tried{};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    ++tried[i % kinds].asked;
    tried[i % kinds].right += overflowed[i] == predicted[i];
  }
  Predictions all;
  for (const Predictions& kind : tried) {
    if (!kind.bear_out()) return kind;
    all += kind;
  }
  return all;
}

}  // namespace sonde
