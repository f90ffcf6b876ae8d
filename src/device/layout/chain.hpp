// From the lists of offsets of a chase to words in memory. A load needs no arithmetic if the word
// it reads holds the next address; a list that comes back to an offset then needs another word
// there.
#pragma once

#include "device/probe.hpp"

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
  std::vector<ChainWord> words;
  std::vector<std::uint64_t> first_offsets_bytes;  // [lane] where the lane starts
  std::vector<std::uint64_t> final_offsets_bytes;  // [lane] what its last load must return
};

/// Chains through which every lane chases its list. The k-th access to a sector reads another of
/// its words, so the lines and sectors are the ones asked for; lanes with equal lists share one
/// chain.
/// @param accesses loads that each lane makes, from the start of its list
/// @return nothing if a sector is accessed more often than it has words
std::optional<ChainPlan> plan_chains(const std::vector<ChaseLane>& lanes, std::uint64_t accesses,
                                     const WordLayout& layout = {});

/// The same lists as numbers for a script that stands in shared memory.
struct ScriptPlan {
  std::uint32_t unit_bytes = 0;                     // an entry is an offset in these
  std::vector<std::vector<std::uint32_t>> scripts;  // [lane]
};

/// @throws DeviceError if the offsets have no common unit that fits 32 bits
ScriptPlan plan_scripts(const std::vector<ChaseLane>& lanes);

}  // namespace sonde::layout
