// Sets, ways, index and replacement of a cache or TLB that nobody built, as JSON of a model file
// (docs/simulated-gpus.md). Used by random_gpu.cpp.
#pragma once

#include "support/draws.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace sonde::test {

/// Whether blocks of 2 MiB, in which an address is known, may lie anywhere: then only functions
/// that a shift of the block leaves alone, up to the names of the sets, can be seen at all.
enum class Placing { known, by_blocks };

/// Sets and ways as a model file spells them, and what else depends on them.
struct DrawnSets {
  std::vector<std::uint32_t> ways_per_set;
  nlohmann::json index;
  nlohmann::json slices = {};  // of draw_sliced_sets: the section of that name

  std::uint64_t lines() const;
  /// Keys of a geometry but for the replacement.
  nlohmann::json to_json() const;
};

/// From one set of 512 ways to 512 sets of one, of 4 to 256 KiB.
DrawnSets draw_first_level_sets(Draws& draws, std::uint64_t line_bytes, Placing placing);

/// 256 KiB to 4 MiB, mostly below 1 MiB, so that GPUs play fast, in sets of 4 to 24 ways.
DrawnSets draw_second_level_sets(Draws& draws, std::uint64_t line_bytes, Placing placing);

/// 256 KiB to 1 MiB in slices whose number is no power of two, chosen by the remainder of a hash.
DrawnSets draw_sliced_sets(Draws& draws, std::uint64_t line_bytes);

/// Sets of 1 to 32 ways for a cache of a size between those two; remainders only where addresses
/// are known.
DrawnSets draw_sized_sets(Draws& draws, std::uint64_t line_bytes, std::uint64_t least_bytes,
                          std::uint64_t most_bytes, Placing placing);

/// Sets by the bits above the line.
/// @param sets a power of two
DrawnSets plain_sets(std::uint64_t line_bytes, std::uint64_t sets, std::uint32_t ways);

/// Sets by parities, each of one bit above the line and of any higher ones.
/// @param sets a power of two
DrawnSets draw_hashed_sets(Draws& draws, std::uint64_t line_bytes, std::uint64_t sets,
                           std::uint32_t ways);

/// The same in slices that the remainder of a hash chooses.
DrawnSets draw_slices(Draws& draws, std::uint64_t line_bytes, std::uint64_t slices,
                      std::uint64_t sets_of_slice, std::uint32_t ways);

/// One set.
DrawnSets full_associativity(std::uint32_t ways);

/// About `entries` in sets of 4 to 16.
DrawnSets draw_tlb_sets(Draws& draws, std::uint64_t entries, std::uint64_t entry_bytes);

/// Any policy that can be there: lots with weights in up to 16 equal ways, duels of sets that have
/// leaders.
nlohmann::json draw_replacement(Draws& draws, const DrawnSets& sets);

}  // namespace sonde::test
