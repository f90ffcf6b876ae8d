// Chooses lines of a span, and packs lines that fit together.
#include "analysis/structure/sets/line_pool.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

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

Lines lines_under(const Lines& offsets, std::uint64_t line_bytes) {
  std::set<std::uint64_t> lines;
  for (std::uint64_t offset : offsets) lines.insert(offset / line_bytes * line_bytes);
  return {lines.begin(), lines.end()};
}

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

std::vector<Lines> lines_by_set(const IndexFunction& index, const LinePool& space,
                                std::size_t count) {
  std::vector<Lines> by_set(index.sets);
  const std::uint64_t available = space.span_bytes / space.line_bytes;
  // An odd step accesses every line once.
  const std::uint64_t step = (available * 5 / 8) | 1;
  const std::uint64_t enough = 4 * count * index.sets;
  for (std::uint64_t i = 0; i < available && i < enough; ++i) {
    const std::uint64_t line =
        (std::has_single_bit(available) ? i * step % available : i) * space.line_bytes;
    Lines& lines = by_set[set_of(index, line)];
    if (lines.size() < count && !is_taken(space, line)) lines.push_back(line);
  }
  return by_set;
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

namespace {

/// Keeps the lines of `added` that fit with the lines kept so far; the others go to `refused`.
void add_lines(const Lines& added, const MissOracle& ask, Lines& kept, Lines& refused) {
  Lines list = kept;
  list.insert(list.end(), added.begin(), added.end());
  const MissCounts counts = ask(std::span(&list, 1)).front();
  const std::size_t before = kept.size();
  for (std::size_t i = 0; i < added.size(); ++i) {
    (misses_again(counts, before + i) ? refused : kept).push_back(added[i]);
  }
}

}  // namespace

PackedLines pack_lines(const Lines& pool, std::size_t first_batch, std::size_t batch,
                       const MissOracle& ask, std::size_t most_chases) {
  PackedLines packed;
  Lines waiting = pool;
  for (std::uint64_t round = 0; !packed.complete; ++round) {
    const std::size_t before = packed.lines.size();
    packed.left_over.clear();
    std::size_t count = round == 0 ? first_batch : batch;
    for (std::size_t first = 0; first < waiting.size(); first += std::exchange(count, batch)) {
      if (++packed.asked_chases > most_chases) return packed;
      add_lines(slice(waiting, first, count), ask, packed.lines, packed.left_over);
    }
    const bool done = packed.lines.size() == before || packed.left_over.empty();
    // Under random replacement some lines of an overfull set may have hit by chance.
    if (done && overflow_twice({packed.lines}, ask).front()) return packed;
    packed.complete = done;
    waiting = shuffled(packed.left_over, round);
  }
  return packed;
}

}  // namespace sonde
