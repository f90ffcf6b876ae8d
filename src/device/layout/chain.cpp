// Lays the lists of a chase out as chains of words, or as scripts; the backend puts them into
// memory.
#include "device/layout/chain.hpp"

#include "base/random.hpp"
#include "device/device_error.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sonde::layout {
namespace {

/// Which words of a sector are taken, a bit each. If the buffer is not much larger than the lists,
/// the table is a plain array; else it is a hash table with linear probing, as a buffer may span
/// the whole memory and lists of thousands of accesses are laid out for every probe.
class SectorTable {
 public:
  SectorTable(std::uint64_t sectors, std::uint64_t accesses)
      : dense_(sectors <= 64 * accesses ? sectors : 0) {
    if (dense_.empty()) sparse_.resize(std::bit_ceil(2 * accesses));
  }
  std::uint8_t& taken(std::uint64_t sector) {
    if (!dense_.empty()) return dense_[sector];
    const std::size_t last = sparse_.size() - 1;
    std::size_t at = mix_bits(sector) & last;
    while (sparse_[at].sector != sector && sparse_[at].sector != Slot::free) at = (at + 1) & last;
    sparse_[at].sector = sector;
    return sparse_[at].taken;
  }

 private:
  struct Slot {
    static constexpr std::uint64_t free = ~std::uint64_t{0};
    std::uint64_t sector = free;
    std::uint8_t taken = 0;
  };
  std::vector<std::uint8_t> dense_;
  std::vector<Slot> sparse_;
};

/// Takes a free word in the sector of `offset_bytes`, if possible the word at that offset. Shifts
/// replace divisions, as this is done for every access of lists of millions.
std::optional<std::uint64_t> take_word(SectorTable& table, const WordLayout& layout,
                                       std::uint64_t offset_bytes) {
  const int word_log2 = std::countr_zero(layout.word_bytes);
  const int group_log2 = std::countr_zero(layout.group_words);
  const std::uint64_t word = offset_bytes >> word_log2;
  const std::uint64_t sector = word >> group_log2;
  std::uint8_t& taken = table.taken(sector);
  for (std::uint64_t k = 0; k < layout.group_words; ++k) {
    const std::uint64_t at = (word + k) & (layout.group_words - 1);
    if ((taken >> at & 1) != 0) continue;
    taken = static_cast<std::uint8_t>(taken | 1u << at);
    return ((sector << group_log2) + at) << word_log2;
  }
  return std::nullopt;
}

/// For each lane the first lane with the same list.
std::vector<std::size_t> find_equal_lists(const std::vector<ChaseLane>& lanes) {
  std::vector<std::size_t> first(lanes.size());
  std::vector<std::size_t> distinct;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const auto same = std::ranges::find_if(
        distinct, [&](std::size_t j) { return lanes[j].offsets_bytes == lanes[i].offsets_bytes; });
    first[i] = same == distinct.end() ? i : *same;
    if (same == distinct.end()) distinct.push_back(i);
  }
  return first;
}

/// Appends the words of one list. @return false if a sector has no word left
bool append_chain(const std::vector<std::uint64_t>& list, const WordLayout& layout,
                  SectorTable& table, std::vector<ChainWord>& words) {
  const std::size_t begin = words.size();
  for (std::uint64_t offset_bytes : list) {
    const std::optional<std::uint64_t> word = take_word(table, layout, offset_bytes);
    if (!word) return false;
    if (words.size() > begin) words.back().next_offset_bytes = *word;
    words.push_back({*word, 0});
  }
  words.back().next_offset_bytes = words[begin].offset_bytes;
  return true;
}

}  // namespace

std::vector<ChaseLane> with_shares(std::vector<ChaseLane> lanes, std::size_t shares) {
  const std::size_t count = lanes.size();
  lanes.resize(count * (1 + shares));
  for (std::size_t i = 0; i < count * shares; ++i) {
    const std::vector<std::uint64_t>& list = lanes[i / shares].offsets_bytes;
    std::vector<std::uint64_t>& share = lanes[count + i].offsets_bytes;
    share.reserve(list.size() / shares + 1);
    for (std::size_t at = i % shares; at < list.size(); at += shares) share.push_back(list[at]);
  }
  return lanes;
}

std::optional<ChainPlan> plan_chains(const std::vector<ChaseLane>& lanes,
                                     const WordLayout& layout) {
  const std::vector<std::size_t> first = find_equal_lists(lanes);
  std::uint64_t entries = 0;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (first[i] != i) continue;
    entries += lanes[i].offsets_bytes.size();
    largest = std::max(largest, *std::ranges::max_element(lanes[i].offsets_bytes));
  }
  SectorTable table(largest / (layout.word_bytes * layout.group_words) + 1, entries);
  ChainPlan plan;
  plan.words.reserve(entries);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (first[i] != i) {
      plan.chains.push_back(plan.chains[first[i]]);
      continue;
    }
    plan.chains.push_back({plan.words.size(), lanes[i].offsets_bytes.size()});
    if (!append_chain(lanes[i].offsets_bytes, layout, table, plan.words)) return std::nullopt;
  }
  return plan;
}

std::uint64_t ListPlan::offset_bytes(std::size_t lane, std::uint64_t access) const {
  const std::uint64_t count = list.size();
  if (lane == 0) return list[access % count] * unit_bytes;
  const std::uint64_t first = lane - 1;
  const std::uint64_t of_share = (count - first + shares - 1) / shares;
  return next_word(layout, list[first + access % of_share * shares] * unit_bytes);
}

std::optional<ListPlan> plan_list(const std::vector<std::uint64_t>& offsets_bytes,
                                  std::size_t shares, const WordLayout& layout) {
  constexpr std::uint64_t most_sectors_per_access = 64;  // a bit each
  const std::uint64_t sector_bytes = layout.word_bytes * layout.group_words;
  const std::uint64_t count = offsets_bytes.size();
  const std::uint64_t largest = *std::ranges::max_element(offsets_bytes);
  const std::uint64_t sectors = largest / sector_bytes + 1;
  if (sectors > most_sectors_per_access * count || count < shares) return std::nullopt;
  const int unit_log2 = std::countr_zero(layout.word_bytes);
  if (largest >> unit_log2 > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const int sector_log2 = std::countr_zero(sector_bytes);
  std::vector<bool> taken(sectors);
  ListPlan plan{.list = {}, .unit_bytes = layout.word_bytes, .shares = shares, .layout = layout};
  plan.list.reserve(count);
  for (std::uint64_t offset_bytes : offsets_bytes) {
    const std::uint64_t sector = offset_bytes >> sector_log2;
    if (taken[sector]) return std::nullopt;
    taken[sector] = true;
    plan.list.push_back(static_cast<std::uint32_t>(offset_bytes >> unit_log2));
  }
  return plan;
}

ScriptPlan plan_scripts(const std::vector<ChaseLane>& lanes) {
  std::uint64_t all_bits = 0;
  std::uint64_t largest = 0;
  for (const ChaseLane& lane : lanes) {
    for (std::uint64_t offset_bytes : lane.offsets_bytes) {
      all_bits |= offset_bytes;
      largest = std::max(largest, offset_bytes);
    }
  }
  ScriptPlan plan;
  const int unit_log2 = all_bits == 0 ? 3 : std::min(std::countr_zero(all_bits), 30);
  plan.unit_bytes = 1u << unit_log2;
  if (largest / plan.unit_bytes > std::numeric_limits<std::uint32_t>::max()) {
    throw_device_error(
        "a chase reads sectors more than four times over too wide a buffer (the order then stands "
        "in shared memory as 32-bit numbers). Read each sector at most four times, or use offsets "
        "with a larger common factor");
  }
  for (const ChaseLane& lane : lanes) {
    auto& script = plan.scripts.emplace_back();
    script.reserve(lane.offsets_bytes.size());
    for (std::uint64_t offset_bytes : lane.offsets_bytes) {
      script.push_back(static_cast<std::uint32_t>(offset_bytes >> unit_log2));
    }
  }
  return plan;
}

}  // namespace sonde::layout
