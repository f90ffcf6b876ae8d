// Rounds over the lines that found no room, each in another order.
#include "analysis/structure/sets/packing.hpp"

#include "base/random.hpp"

#include <span>
#include <utility>

namespace sonde {
namespace {

/// Keeps those of `added` that fit beside the lines kept so far; the others go to `refused`.
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

PackedLines pack_lines(const Lines& pool, std::size_t batch, const MissOracle& ask,
                       std::size_t most_chases) {
  PackedLines packed;
  Lines waiting = pool;
  for (std::uint64_t round = 0; !packed.complete; ++round) {
    const std::size_t before = packed.lines.size();
    Lines refused;
    for (std::size_t first = 0; first < waiting.size(); first += batch) {
      if (++packed.asked_chases > most_chases) return packed;
      add_lines(slice(waiting, first, batch), ask, packed.lines, refused);
    }
    packed.left_over = refused.size();
    const bool done = packed.lines.size() == before || refused.empty();
    // Under random replacement lines of an overfull set may have stayed by chance: then it shows.
    if (done && overflow_twice({packed.lines}, ask).front()) return packed;
    packed.complete = done;
    waiting = shuffled(std::move(refused), round);
  }
  return packed;
}

}  // namespace sonde
