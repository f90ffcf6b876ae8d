// Blocks that are executed from some line on, with the sets of last lines full: those overflow that
// the lines before the last one lie in.
#include "jobs/cache/code_index.hpp"

#include "analysis/structure/index/gf2.hpp"
#include "base/random.hpp"
#include "device/code_blocks.hpp"
#include "jobs/cache/cache_probe.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace sonde {
namespace {

/// Sets of last lines, and which of them the lines of a block lie in by some function of all lines.
class SetsOfBlocks {
 public:
  SetsOfBlocks(const SetFindings& found, IndexFunction all, std::uint64_t line_bytes)
      : last_(found.layout.index), all_(std::move(all)), line_bytes_(line_bytes) {
    for (std::uint64_t block = 0; block < found.pool.span_bytes; block += code_block_bytes) {
      const std::uint64_t set = set_of(last_, block);
      const auto [known, is_new] = last_sets_.try_emplace(set_of(all_, last_line(block)), set);
      one_to_one_ = one_to_one_ && known->second == set;
    }
    std::set<std::uint64_t> seen;
    for (const auto& [of_all, of_last] : last_sets_)
      one_to_one_ = seen.insert(of_last).second && one_to_one_;
  }

  /// Whether the function parts last lines as they were seen to lie.
  bool part_last_lines_alike() const { return one_to_one_; }

  /// How many lines of a block that is executed from this line on lie in each set of last lines.
  std::map<std::uint64_t, std::size_t> executed(std::uint64_t block, std::uint64_t from) const {
    std::map<std::uint64_t, std::size_t> lines;
    for (std::uint64_t line = block + from; line <= last_line(block); line += line_bytes_) {
      const auto known = last_sets_.find(set_of(all_, line));
      if (known != last_sets_.end()) ++lines[known->second];
    }
    return lines;
  }

 private:
  std::uint64_t last_line(std::uint64_t block) const {
    return block + code_block_bytes - line_bytes_;
  }

  IndexFunction last_;
  IndexFunction all_;
  std::uint64_t line_bytes_;
  std::map<std::uint64_t, std::uint64_t> last_sets_;  // by number among all sets
  bool one_to_one_ = true;
};

/// Asks of blocks beside last lines. Where inner caches answer, whole blocks evict: they take ways
/// of sets that are not known yet, so what they leave of each set is asked first.
class FullSets {
 public:
  FullSets(const CacheUnderTest& cache, const SetFindings& found, std::uint64_t line_bytes,
           std::uint64_t size_bytes)
      : found_(found),
        pool_(found.pool),
        last_bytes_(code_block_bytes - line_bytes),
        probe_(cache, size_bytes, code_block_bytes) {
    probe_.limit_search();
    auto evictors = probe_.find_pass_evictors(pool_.span_bytes);
    if (!evictors) return;
    pool_.excluded = evictors->excluded;
    pool_.excluded.insert(pool_.excluded.end(), found.pool.excluded.begin(),
                          found.pool.excluded.end());
    std::ranges::sort(pool_.excluded);
    if (!evictors->accessed.empty()) pool_.span_bytes = evictors->accessed.front();
    evicts_ = true;
    ask_ = ask_behind(probe_, *std::move(evictors));
  }

  bool evicts() const { return evicts_; }
  /// Asks in as many orders as that takes: trees of other than 2^n ways lose lines that fit.
  void ask_patiently() {
    probe_.ask_patiently();
    free_ways_.clear();
  }
  const IndexFunction& index() const { return found_.layout.index; }
  const MissOracle& ask() const { return ask_; }
  Lines choose_blocks(std::size_t count) const {
    return choose_lines(pool_, count, derive_seed(pool_.seed, "blocks"));
  }

  /// How many last lines of each of the sets stay beside the evictors: by halving.
  void count_free_ways(const std::vector<std::uint64_t>& sets) {
    struct Range {
      std::size_t fitting = 0;
      std::size_t overflowing = 0;
    };
    std::map<std::uint64_t, Range> open;
    for (std::uint64_t set : sets) {
      if (!free_ways_.contains(set)) open[set] = {0, found_.layout.ways_per_set.front() + 1};
    }
    while (!open.empty()) {
      std::vector<Lines> lists;
      for (const auto& [set, range] : open)
        lists.push_back(last_lines(set, (range.fitting + range.overflowing) / 2));
      const std::vector<bool> overflowing = overflow_once(lists, ask_);
      std::size_t at = 0;
      for (auto& [set, range] : open) {
        const std::size_t middle = (range.fitting + range.overflowing) / 2;
        (overflowing[at++] ? range.overflowing : range.fitting) = middle;
      }
      std::erase_if(open, [&](const auto& entry) {
        const Range& range = entry.second;
        if (range.overflowing - range.fitting > 1) return false;
        free_ways_[entry.first] = range.fitting;
        return true;
      });
    }
  }

  /// Whether lines of a block are too many for what is left of this set, without any last line.
  /// @pre count_free_ways of the set
  bool are_too_many(std::uint64_t set, std::size_t lines) const {
    return lines > free_ways_.at(set);
  }

  /// A block that is executed from a line on, and as many last lines of a set as fit beside it if
  /// it takes so many ways of that, or more. nullopt if there are too few.
  /// @pre count_free_ways of the set
  std::optional<Lines> list(std::uint64_t set, std::uint64_t block, std::uint64_t from,
                            std::size_t taken, std::size_t more) const {
    const std::size_t free_ways = free_ways_.at(set);
    if (free_ways < taken) return std::nullopt;
    const std::size_t count = free_ways - taken + more;
    Lines lines = last_lines(set, count + 1);
    std::erase(lines, block + last_bytes_);
    if (lines.size() < count) return std::nullopt;
    lines.resize(count);
    lines.push_back(block + from);
    return lines;
  }

 private:
  Lines last_lines(std::uint64_t set, std::size_t count) const {
    Lines lines = lines_of_set(index(), pool_, set, count);
    for (std::uint64_t& line : lines) line += last_bytes_;
    return lines;
  }

  const SetFindings& found_;
  LinePool pool_;
  std::uint64_t last_bytes_;
  CacheProbe probe_;
  MissOracle ask_;
  bool evicts_ = false;
  std::map<std::uint64_t, std::size_t> free_ways_;
};

/// The sets of last lines that a block overfills if it is executed from this line on, beyond what
/// the function says of the lines behind that.
std::vector<std::uint64_t> sets_of_line(const FullSets& full, const SetsOfBlocks& known,
                                        std::uint64_t block, std::uint64_t from,
                                        std::uint64_t line_bytes) {
  const auto behind = known.executed(block, from + line_bytes);
  std::vector<std::uint64_t> sets;
  std::vector<Lines> lists;
  for (std::uint64_t set = 0; set < full.index().sets; ++set) {
    const auto others = behind.find(set);
    auto list = full.list(set, block, from, others == behind.end() ? 0 : others->second, 0);
    if (!list) continue;
    sets.push_back(set);
    lists.push_back(*std::move(list));
  }
  const std::vector<bool> overflowing = overflow_twice(lists, full.ask());
  std::vector<std::uint64_t> overfilled;
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (overflowing[i]) overfilled.push_back(sets[i]);
  return overfilled;
}

/// Adds `bits` to the masks of the sets in which a line and the last one differ.
void add_bits(IndexFunction& index, std::uint64_t difference, std::uint64_t bits) {
  for (std::size_t i = 0; difference >> i != 0; ++i)
    if (difference >> i & 1) index.masks[i] |= bits;
}

/// XORs with the bits below a block, from the sets of the lines of one block. A parity of those
/// bits alone parts all sets in two, of which last lines lie in one.
std::optional<IndexFunction> see_masks(const FullSets& full, const SetFindings& found,
                                       std::uint64_t block, std::uint64_t line_bytes) {
  const std::uint64_t own = set_of(full.index(), block);
  IndexFunction index = full.index();
  std::uint64_t parting = 0;
  std::uint64_t flipped = line_bytes;
  const auto see_line = [&](std::uint64_t bits) -> std::optional<bool> {
    IndexFunction known = index;
    if (parting != 0) known.masks.push_back(parting);
    const auto sets = sets_of_line(full, SetsOfBlocks(found, known, line_bytes), block,
                                   code_block_bytes - line_bytes - flipped, line_bytes);
    if (sets.size() > 1) return std::nullopt;
    if (!sets.empty()) add_bits(index, sets.front() ^ own, bits);
    return !sets.empty();
  };
  for (; flipped < code_block_bytes; flipped *= 2) {
    const auto is_seen = see_line(flipped);
    if (!is_seen) return std::nullopt;
    if (!*is_seen) parting |= flipped;
  }
  // Neither bit alone keeps a line among the sets of last ones; both together do.
  flipped = parting;
  if (std::popcount(parting) > 1 && !see_line(line_bytes).value_or(false)) return std::nullopt;
  if (parting != 0) index.masks.push_back(parting);
  Gf2Basis masks;
  for (std::uint64_t mask : index.masks) masks.insert(mask);
  index.masks = masks.rows();
  index.sets = std::uint32_t{1} << index.masks.size();
  index.known_bits |= code_block_bytes - line_bytes;
  if (!index.masks.empty()) index.kind = IndexKind::xor_masks;
  return index;
}

/// Remainders of blocks, or of lines or a few of them at a time.
std::vector<IndexFunction> remainders(const SetFindings& found, const PartsOfBlocks& parts) {
  std::vector<IndexFunction> candidates;
  IndexFunction index = found.layout.index;
  index.sets *= static_cast<std::uint32_t>(parts.multiple);
  index.known_bits |= code_block_bytes - parts.line_bytes;
  for (; index.granularity_bytes >= parts.line_bytes; index.granularity_bytes /= 2)
    candidates.push_back(index);
  return candidates;
}

/// Whether blocks that are executed as a whole overfill the sets that the function puts their lines
/// into once as many last lines lie there as beside them do not fit, and no others. Where a block
/// has more lines of a set than that has ways, it overfills it alone.
bool predicts(FullSets& full, const SetsOfBlocks& sets_of_blocks, const Lines& blocks) {
  constexpr std::size_t few = 8;  // one in so many: outliers, sets that inner caches answer for
  struct Asked {
    std::uint64_t block = 0;
    std::uint64_t set = 0;
    std::size_t taken = 0;  // by lines of the block
  };
  std::vector<Asked> asked;
  std::vector<std::uint64_t> sets;
  for (std::uint64_t block : blocks) {
    auto executed = sets_of_blocks.executed(block, 0);
    executed.try_emplace((executed.begin()->first + 1) % full.index().sets, 0);
    for (const auto& [set, taken] : executed) {
      asked.push_back({block, set, taken});
      sets.push_back(set);
    }
  }
  full.count_free_ways(sets);
  std::vector<Lines> lists;
  std::vector<bool> expected;
  for (const Asked& of : asked) {
    if (full.are_too_many(of.set, of.taken)) {
      lists.push_back({of.block});
      expected.push_back(true);
      continue;
    }
    for (std::size_t more : {0u, 1u}) {
      auto list = full.list(of.set, of.block, 0, of.taken, more);
      if (!list) continue;
      lists.push_back(*std::move(list));
      expected.push_back(more > 0);
    }
  }
  const std::vector<bool> overflowing = overflow_twice(lists, full.ask());
  std::size_t contradicting = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) contradicting += overflowing[i] != expected[i];
  return lists.size() > blocks.size() && few * contradicting <= lists.size();
}

/// @throws SearchOverTime
std::optional<IndexFunction> find_index(FullSets& full, const SetFindings& found,
                                        const PartsOfBlocks& parts) {
  constexpr std::size_t tried_blocks = 4;  // some have lines where no way is left
  constexpr std::size_t further_blocks = 16;
  constexpr std::uint32_t most_sets = 512;
  const IndexFunction& of_last_lines = full.index();
  const Lines blocks = full.choose_blocks(tried_blocks + further_blocks);
  const Lines others = slice(blocks, tried_blocks, further_blocks);
  const auto is_right = [&](const IndexFunction& index) {
    const SetsOfBlocks sets(found, index, parts.line_bytes);
    return index.sets == parts.multiple * of_last_lines.sets && sets.part_last_lines_alike() &&
           predicts(full, sets, others);
  };
  if (of_last_lines.kind == IndexKind::modulo) {
    const auto candidates = remainders(found, parts);
    const auto right = std::ranges::find_if(candidates, is_right);
    return right == candidates.end() ? std::nullopt : std::optional(*right);
  }
  if (of_last_lines.sets > most_sets) return std::nullopt;
  std::vector<std::uint64_t> sets(of_last_lines.sets);
  std::iota(sets.begin(), sets.end(), 0);
  full.count_free_ways(sets);
  for (std::uint64_t block : slice(blocks, 0, tried_blocks)) {
    const auto index = see_masks(full, found, block, parts.line_bytes);
    if (index && is_right(*index)) return index;
  }
  return std::nullopt;
}

}  // namespace

std::optional<IndexFunction> find_index_of_all_lines(const CacheUnderTest& cache,
                                                     const SetFindings& found,
                                                     const PartsOfBlocks& parts,
                                                     std::uint64_t size_bytes) {
  const IndexFunction& of_last_lines = found.layout.index;
  if (!can_number_sets(of_last_lines)) return std::nullopt;
  if (of_last_lines.kind == IndexKind::one_set && parts.multiple == 1) return of_last_lines;
  try {
    FullSets full(cache, found, parts.line_bytes, size_bytes);
    if (!full.evicts()) return std::nullopt;
    if (const auto index = find_index(full, found, parts)) return index;
    full.ask_patiently();
    return find_index(full, found, parts);
  } catch (const SearchOverTime&) {
    return std::nullopt;
  }
}

}  // namespace sonde
