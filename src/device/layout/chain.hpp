// Turns the lists of a chase into words in memory. A load needs no arithmetic if the word that it
// reads holds the next address. A list that comes back to an offset then needs another word there.
#pragma once

#include "device/probe/probe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::layout {

/// The words of a sector, which a load may read in place of each other. Both are powers of two.
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

  /// Offset of the word that access number `access` of the lane, from 0 on, loads. The access
  /// before returns the place of that word.
  std::uint64_t offset_bytes(std::size_t lane, std::uint64_t access) const {
    return words[chains[lane].first_word + access % chains[lane].length].offset_bytes;
  }
};

/// Appends `shares` lanes for each of the lanes: share i has every `shares`-th access of the list,
/// from access i on.
/// @pre no list is shorter than that
std::vector<ChaseLane> with_shares(std::vector<ChaseLane> lanes, std::size_t shares);

/// Makes a chain for the list of each lane. The k-th access to a sector reads another of its words,
/// so that lines and sectors are those of the list. Lanes with equal lists share one chain.
/// @return nothing if a sector is accessed more often than it has words
std::optional<ChainPlan> plan_chains(const std::vector<ChaseLane>& lanes,
                                     const WordLayout& layout = {});

/// A list whose accesses lie in sectors of their own. The device makes a chain of it: the word of
/// each access leads to the next access and, if there are shares, the next word of its sector leads
/// to the access `shares` further on.
struct ListPlan {
  std::vector<std::uint32_t> list;  // offsets in units
  std::uint64_t unit_bytes = 0;
  std::size_t shares = 0;
  WordLayout layout = {};

  /// As ChainPlan::offset_bytes, for the list (lane 0) and its shares (the lanes after it).
  std::uint64_t offset_bytes(std::size_t lane, std::uint64_t access) const;
};

/// The offset of the next word of the sector; the first word follows the last.
inline std::uint64_t next_word(const WordLayout& layout, std::uint64_t offset_bytes) {
  const std::uint64_t sector_bytes = layout.word_bytes * layout.group_words;
  const std::uint64_t place = (offset_bytes + layout.word_bytes) % sector_bytes;
  return offset_bytes / sector_bytes * sector_bytes + place;
}

/// @return nothing if two accesses share a sector, or the buffer is so large that checking it would
/// take longer than making chains
std::optional<ListPlan> plan_list(const std::vector<std::uint64_t>& offsets_bytes,
                                  std::size_t shares, const WordLayout& layout = {});

/// The lists as numbers, for scripts in shared memory.
struct ScriptPlan {
  std::uint32_t unit_bytes = 0;                     // an entry is an offset in these units
  std::vector<std::vector<std::uint32_t>> scripts;  // [lane]
};

/// @throws DeviceError if the offsets have no common unit that fits 32 bits
ScriptPlan plan_scripts(const std::vector<ChaseLane>& lanes);

}  // namespace sonde::layout
