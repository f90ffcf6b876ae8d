// The first lines of the span that the function puts there.
#include "analysis/structure/sets/set_lines.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <utility>

namespace sonde {

Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count) {
  Lines lines;
  for (std::uint64_t line = 0; line < space.span_bytes && lines.size() < 4 * count;
       line += space.line_bytes) {
    if (set_of(index, line) == set && !is_taken(space, line)) lines.push_back(line);
  }
  lines = shuffled(std::move(lines), derive_seed(space.seed, "lines of a set"));
  lines.resize(std::min(count, lines.size()));
  return lines;
}

Lines lines_of_other_sets(const IndexFunction& index, const LinePool& space, std::uint64_t set) {
  constexpr std::size_t most_lines = 4096;
  Lines lines = space.co_resident;
  for (std::uint64_t line = lines.front(); line > 0 && lines.size() < most_lines;) {
    line -= space.line_bytes;
    lines.push_back(line);
  }
  std::erase_if(lines, [&](std::uint64_t line) { return set_of(index, line) == set; });
  return lines;
}

}  // namespace sonde
