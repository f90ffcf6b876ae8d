// One block, entered at its first line, with each set full of last lines: the set that overflows.
#include "jobs/cache/code_index.hpp"

#include "analysis/structure/index/gf2.hpp"
#include "base/random.hpp"

#include <algorithm>

namespace sonde {
namespace {

/// Last lines that fill a set up to what co-resident lines leave of it, and a block, entered at its
/// first line.
class FullSets {
 public:
  FullSets(const SetFindings& found, std::uint64_t line_bytes)
      : found_(found), line_bytes_(line_bytes), residents_(found.layout.index.sets) {
    for (std::uint64_t line : found.pool.co_resident) ++residents_[set_of(index(), line)];
  }

  const IndexFunction& index() const { return found_.layout.index; }

  Lines list(std::uint64_t set, std::uint64_t block) const {
    const std::size_t ways = found_.layout.ways_per_set.front();
    const std::size_t left = ways - std::min<std::size_t>(ways, residents_[set]);
    Lines lines = lines_of_set(index(), found_.pool, set, left + 1);
    std::erase(lines, block);
    // Its last line is executed, too.
    const std::size_t own = set_of(index(), block) == set ? 1 : 0;
    lines.resize(std::min(lines.size(), left - std::min(left, own)));
    lines.push_back(block - line_bytes_);
    return lines;
  }

 private:
  const SetFindings& found_;
  std::uint64_t line_bytes_;
  std::vector<std::size_t> residents_;
};

/// The only set that the first line of the block overfills; nullopt if none does or several do.
std::optional<std::uint64_t> set_of_first_line(const FullSets& full, std::uint64_t block,
                                               const MissOracle& ask) {
  std::vector<Lines> lists;
  for (std::uint64_t set = 0; set < full.index().sets; ++set)
    lists.push_back(full.list(set, block));
  const std::vector<bool> overflowing = overflow_twice(lists, ask);
  if (std::ranges::count(overflowing, true) != 1) return std::nullopt;
  return std::ranges::find(overflowing, true) - overflowing.begin();
}

/// The function of both lines if the first one of a block lies in `first` where the last one lies
/// in `last`: XORs with the bit between them, or the remainder of lines instead of blocks.
std::optional<IndexFunction> with_lines(IndexFunction index, std::uint64_t last,
                                        std::uint64_t first, std::uint64_t line_bytes) {
  index.known_bits |= line_bytes;
  if (index.kind == IndexKind::modulo) {
    if (first == last) return index;
    // Line 2b + 1 lies with the last line of block b; line 2b, with that of block b + (n - 1) / 2.
    const bool goes_on = index.granularity_bytes == 2 * line_bytes && index.sets % 2 == 1 &&
                         first == (last + index.sets / 2) % index.sets;
    index.granularity_bytes = line_bytes;
    return goes_on ? std::optional(index) : std::nullopt;
  }
  Gf2Basis masks;
  for (std::size_t bit = 0; bit < index.masks.size(); ++bit)
    masks.insert(index.masks[bit] | ((first ^ last) >> bit & 1 ? line_bytes : 0));
  if (first != last) index.kind = IndexKind::xor_masks;
  index.masks = masks.rows();
  return index;
}

/// Whether other blocks overfill the set that follows from the first one's, and no other.
bool predicts(const FullSets& full, const Lines& blocks, std::uint64_t last, std::uint64_t first,
              const MissOracle& ask) {
  const IndexFunction& index = full.index();
  const auto shifted = [&](std::uint64_t set) {
    return index.kind == IndexKind::modulo ? (set + index.sets + first - last) % index.sets
                                           : set ^ first ^ last;
  };
  std::vector<Lines> lists;
  for (std::uint64_t block : blocks) {
    const std::uint64_t set = shifted(set_of(index, block));
    lists.push_back(full.list(set, block));
    lists.push_back(full.list((set + 1) % index.sets, block));
  }
  const std::vector<bool> overflowing = overflow_twice(lists, ask);
  std::size_t contradicting = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) contradicting += overflowing[i] != (i % 2 == 0);
  return 8 * contradicting <= lists.size();  // an outlier, or a set that co-resident lines fill
}

}  // namespace

std::optional<IndexFunction> find_index_of_both_lines(CacheProbe& probe, const SetFindings& found,
                                                      std::uint64_t line_bytes) {
  constexpr std::size_t tried_blocks = 4;  // some have their first line where no way is left
  constexpr std::size_t further_blocks = 16;
  constexpr std::uint32_t most_sets = 512;
  if (found.layout.index.kind == IndexKind::one_set) return found.layout.index;
  if (!can_number_sets(found.layout.index) || found.layout.index.sets > most_sets)
    return std::nullopt;
  const FullSets full(found, line_bytes);
  const MissOracle ask = ask_behind(probe, found.pass_evictors);
  Lines blocks = choose_lines(found.pool, tried_blocks + further_blocks,
                              derive_seed(found.pool.seed, "first lines"));
  std::erase(blocks, std::uint64_t{0});  // nothing lies before it
  for (std::size_t tried = 0; tried < std::min(tried_blocks, blocks.size()); ++tried) {
    const auto first = set_of_first_line(full, blocks[tried], ask);
    if (!first) continue;
    const std::uint64_t last = set_of(full.index(), blocks[tried]);
    auto index = with_lines(full.index(), last, *first, line_bytes);
    const Lines others = slice(blocks, tried_blocks, further_blocks);
    return index && predicts(full, others, last, *first, ask) ? index : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sonde
