// Pairs of accesses: the same line twice, or two neighbouring blocks.
#include "jobs/tlb/access_pairs.hpp"

#include "base/error.hpp"
#include "base/gpu_facts.hpp"

#include <unordered_map>

namespace sonde {

std::vector<Turn> turns_of(SecondAccess second_access) {
  if (second_access == SecondAccess::same_line) return {Turn::as_listed};
  return {Turn::as_listed, Turn::swapped};
}

Offsets twice_each(const Offsets& places) {
  Offsets pairs;
  pairs.reserve(2 * places.size());
  for (std::uint64_t place : places) pairs.insert(pairs.end(), 2, place);
  return pairs;
}

Offsets place_second_accesses(Offsets offsets, SecondAccess second_access, Turn turn) {
  // Texture caches of 20 to 96 ways choose a set by bits below these (Wong 2010, Mei and Chu 2016):
  // all pairs use few sets and evict each other.
  constexpr std::uint64_t block_bytes = 256;
  require(second_access != SecondAccess::from_memory,
          "lines from the memory take passes of their own");
  if (second_access == SecondAccess::same_line) return offsets;
  const std::uint64_t first = turn == Turn::as_listed ? 0 : block_bytes;
  // Single accesses use the sectors of both blocks in turn, four times each: a sector has four
  // words for the addresses of a chain.
  constexpr std::uint64_t words_of_sector = 4;
  constexpr std::uint64_t sectors = 2 * block_bytes / smallest_line_bytes;
  std::unordered_map<std::uint64_t, std::uint64_t> singles;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const bool pair = i + 1 < offsets.size() && offsets[i] == offsets[i + 1];
    const std::uint64_t start = offsets[i] / (2 * block_bytes) * (2 * block_bytes);
    if (pair) {
      offsets[i] = start + first;
      offsets[++i] = start + (block_bytes - first);
    } else {
      offsets[i] = start + singles[start]++ / words_of_sector % sectors * smallest_line_bytes;
    }
  }
  return offsets;
}

Offsets sweep_lines(std::uint64_t bytes) {
  // No cache with lines below 128 bytes is larger (textures: 24 KB, Mei and Chu 2016).
  constexpr std::uint64_t finely_bytes = 48_KiB;
  Offsets swept;
  for (std::uint64_t at = 0; at < bytes;) {
    swept.insert(swept.end(), 2, sweep_start_bytes + at);
    at += at < finely_bytes ? smallest_line_bytes : common_line_bytes;
  }
  return swept;
}

}  // namespace sonde
