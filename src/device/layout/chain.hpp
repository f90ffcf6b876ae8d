// From the lists of offsets of a chase to words in memory. A load needs no arithmetic if the word
// it reads holds the next address; a list that comes back to an offset then needs another word
// there.
#pragma once

#include "device/probe/probe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::layout {

/// Words that a load may read in place of each other: they lie in one sector. Both are powers of
/// two.
struct WordLayout {
  std::uint64_t word_bytes = 8;
  std::uint64_t group_words = 4;  // at most 8; 32 B are the unit of a fill since Volta
};

/// A word of the buffer that holds the offset of the next one.
struct ChainWord {
  std::uint64_t offset_bytes;
  std::uint64_t next_offset_bytes;
};

struct ChainPlan {
  /// The words of one list, in its order; the last one leads back to the first.
  struct Chain {
    std::size_t first_word = 0;
    std::size_t length = 0;
  };
  std::vector<ChainWord> words;
  std::vector<Chain> chains;  // [lane]

  /// Of the word that the lane's access number `access`, from 0 on, loads: also what the access
  /// before it returns.
  std::uint64_t offset_bytes(std::size_t lane, std::uint64_t access) const {
    return words[chains[lane].first_word + access % chains[lane].length].offset_bytes;
  }
};

/// The lists of `lanes`, and behind them `shares` for each: every `shares`-th access from the first
/// one on, from the second one on, and so on.
/// @pre no list is shorter than that
std::vector<ChaseLane> with_shares(std::vector<ChaseLane> lanes, std::size_t shares);

/// Chains through which every lane chases its list. The k-th access to a sector reads another of
/// its words, so the lines and sectors are the ones asked for; lanes with equal lists share one
/// chain.
/// @return nothing if a sector is accessed more often than it has words
std::optional<ChainPlan> plan_chains(const std::vector<ChaseLane>& lanes,
                                     const WordLayout& layout = {});

/// A list whose accesses lie in sectors of their own. The device makes a chain of it by itself:
/// each access leads to the next one, and in the next word of its sector, if there are shares, to
/// the one `shares` further on.
struct ListPlan {
  std::vector<std::uint32_t> list;  // offsets in units
  std::uint64_t unit_bytes = 0;
  std::size_t shares = 0;
  WordLayout layout = {};

  /// As that of a ChainPlan of one list and its shares, lane 0 and those behind it.
  std::uint64_t offset_bytes(std::size_t lane, std::uint64_t access) const;
};

/// The offset of the word behind that one, or of the first one of the same sector.
inline std::uint64_t next_word(const WordLayout& layout, std::uint64_t offset_bytes) {
  const std::uint64_t sector_bytes = layout.word_bytes * layout.group_words;
  const std::uint64_t place = (offset_bytes + layout.word_bytes) % sector_bytes;
  return offset_bytes / sector_bytes * sector_bytes + place;
}

/// @return nothing if two accesses share a sector, or lie so far apart in the buffer that to tell
/// would take longer than to make chains
std::optional<ListPlan> plan_list(const std::vector<std::uint64_t>& offsets_bytes,
                                  std::size_t shares, const WordLayout& layout = {});

/// The same lists as numbers for a script that stands in shared memory.
struct ScriptPlan {
  std::uint32_t unit_bytes = 0;                     // an entry is an offset in these
  std::vector<std::vector<std::uint32_t>> scripts;  // [lane]
};

/// @throws DeviceError if the offsets have no common unit that fits 32 bits
ScriptPlan plan_scripts(const std::vector<ChaseLane>& lanes);

}  // namespace sonde::layout
