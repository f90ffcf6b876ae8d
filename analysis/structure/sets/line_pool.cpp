// Random lines of a span.
#include "analysis/structure/sets/line_pool.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace sonde {

SpanPart part_of_seen_bits(const LinePool& space) {
  SpanPart part{0, space.span_bytes};
  if (space.buffer_address == 0) return part;
  const auto cut = [&](std::uint64_t multiple, std::uint64_t short_bytes) {
    const std::uint64_t head = (multiple - space.buffer_address % multiple) % multiple;
    const std::uint64_t tail = (space.buffer_address + space.span_bytes) % multiple;
    const std::uint64_t line = space.line_bytes;
    if (head < short_bytes)
      part.begin_bytes = std::max(part.begin_bytes, (head + line - 1) / line * line);
    if (tail < short_bytes)
      part.end_bytes = std::min(part.end_bytes, (space.span_bytes - tail) / line * line);
  };
  // Lines with a known set are some 250. Where a bit shows in these alone, 15 of them lie there;
  // where they tell two bits apart one would do, were no label wrong: a fit forgives 3 % of them.
  const std::uint64_t multiple = std::bit_floor(space.span_bytes);
  cut(multiple, space.span_bytes / 16);
  if (multiple / 2 >= space.line_bytes) cut(multiple / 2, space.span_bytes / 32);
  return part;
}

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

Lines lines_under(const Lines& offsets, std::uint64_t line_bytes) {
  std::set<std::uint64_t> lines;
  for (std::uint64_t offset : offsets) lines.insert(offset / line_bytes * line_bytes);
  return {lines.begin(), lines.end()};
}

}  // namespace sonde
