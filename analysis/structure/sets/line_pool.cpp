// Random lines of a span.
#include "analysis/structure/sets/line_pool.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <set>

namespace sonde {

bool is_taken(const LinePool& space, std::uint64_t line) {
  return std::binary_search(space.co_resident.begin(), space.co_resident.end(), line) ||
         std::binary_search(space.excluded.begin(), space.excluded.end(), line);
}

Lines choose_lines(const LinePool& space, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t available = space.span_bytes / space.line_bytes;
  Lines lines;
  if (available <= 2 * count + space.co_resident.size() + space.excluded.size()) {
    for (std::uint64_t line = 0; line < available; ++line) lines.push_back(line * space.line_bytes);
    std::erase_if(lines, [&](std::uint64_t line) { return is_taken(space, line); });
    lines = shuffled(std::move(lines), seed);
    lines.resize(std::min<std::size_t>(count, lines.size()));
    return lines;
  }
  Random random(seed);
  std::set<std::uint64_t> chosen;
  while (lines.size() < count) {
    const std::uint64_t line = random.below(available) * space.line_bytes;
    if (!is_taken(space, line) && chosen.insert(line).second) lines.push_back(line);
  }
  return lines;
}

}  // namespace sonde
