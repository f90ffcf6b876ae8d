// Draws of sets, index functions and policies.
#include "support/random_geometry.hpp"

#include "analysis/structure/index/index_function.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace sonde::test {
namespace {

using nlohmann::json;

// Masks reach as far as a large page shows addresses.
constexpr int highest_bit = 20;
constexpr int highest_hashed_bit = 30;  // of an L2
constexpr std::uint32_t most_ways = 512;

enum class Kind { bit_field, xor_masks, modulo, unequal_modulo, unequal_table };

json bit_field(int low_bit, int bits) {
  return {{"kind", "bit_field"}, {"low_bit", low_bit}, {"bits", bits}};
}

json modulo(std::uint64_t granularity_bytes) {
  return {{"kind", "modulo"}, {"granularity_bytes", granularity_bytes}};
}

/// Each set stands in the table as often as its width asks for, dealt in turn: sets fill evenly.
json table(std::uint64_t granularity_bytes, const std::vector<std::uint32_t>& ways_per_set) {
  std::uint32_t divisor = 0;
  for (std::uint32_t ways : ways_per_set) divisor = std::gcd(divisor, ways);
  std::vector<std::uint32_t> list;
  const std::uint32_t widest = *std::max_element(ways_per_set.begin(), ways_per_set.end());
  for (std::uint32_t round = 0; round < widest / divisor; ++round) {
    for (std::size_t set = 0; set < ways_per_set.size(); ++set) {
      if (round < ways_per_set[set] / divisor) list.push_back(static_cast<std::uint32_t>(set));
    }
  }
  return {{"kind", "table"}, {"granularity_bytes", granularity_bytes}, {"table", list}};
}

/// Masks of full rank. Folded ones have a low bit of their own each, as in every hash that is
/// known; wild ones are any.
enum class Masks { folded, wild };

json xor_masks(Draws& draws, int low_bit, int bits, int top_bit, Masks style) {
  json masks = json::array();
  Gf2Basis basis;
  while (static_cast<int>(masks.size()) < bits) {
    const int first = style == Masks::folded ? low_bit + bits : low_bit;
    std::uint64_t mask = 0;
    for (int bit = first; bit <= top_bit; ++bit) {
      if (draws.chance(0.4)) mask |= std::uint64_t{1} << bit;
    }
    if (style == Masks::folded)
      mask |= std::uint64_t{1} << (low_bit + static_cast<int>(masks.size()));
    if (basis.insert(mask)) masks.push_back(fmt::format("{:#x}", mask));
  }
  if (bits == 0) return bit_field(low_bit, 0);
  return {{"kind", "xor_masks"}, {"masks", masks}};
}

int log2_of(std::uint64_t power) { return std::countr_zero(power); }

/// Two widths that lie close to each other.
std::vector<std::uint32_t> draw_unequal_ways(Draws& draws, std::uint32_t sets, std::uint32_t ways) {
  const auto wide_sets = static_cast<std::size_t>(draws.between(1, sets - 1));
  const auto more =
      static_cast<std::uint32_t>(draws.between(1, std::clamp<std::uint64_t>(ways / 2, 1, 8)));
  std::vector<std::uint32_t> ways_per_set(sets, ways);
  std::fill_n(ways_per_set.begin(), wide_sets, ways + more);
  return ways_per_set;
}

/// Doublings of the line that share a set; a set holds several neighbours of each line.
int draw_coarseness(Draws& draws, std::uint64_t ways) {
  const int doublings = draws.pick({0, 0, 0, 1, 2, 3});
  return ways >= std::uint64_t{4} << doublings ? doublings : 0;
}

/// One draw; the caller looks whether the cache has a size that caches have.
DrawnSets try_first_level(Draws& draws, std::uint64_t line_bytes, Placing placing) {
  const Kind kind = placing == Placing::by_blocks
                        ? draws.pick({Kind::bit_field, Kind::xor_masks})
                        : draws.pick_weighted<Kind>({{Kind::bit_field, 3},
                                                     {Kind::xor_masks, 4},
                                                     {Kind::modulo, 2},
                                                     {Kind::unequal_modulo, 1.5},
                                                     {Kind::unequal_table, 1}});
  const int line_bit = log2_of(line_bytes);
  const bool folds = kind == Kind::bit_field || kind == Kind::xor_masks;
  const int bits = static_cast<int>(draws.between(0, 9));
  const std::uint64_t sets = folds                         ? std::uint64_t{1} << bits
                             : kind == Kind::unequal_table ? draws.between(2, 16)
                                                           : draws.log_between(2, 512);
  const std::uint64_t lines = draws.log_between(4_KiB, 256_KiB) / line_bytes;
  const std::uint64_t ways = std::clamp<std::uint64_t>(lines / sets, 1, most_ways);
  DrawnSets drawn;
  drawn.ways_per_set.assign(sets, static_cast<std::uint32_t>(ways));
  switch (kind) {
    case Kind::bit_field: {
      const int low_bit = line_bit + draw_coarseness(draws, ways);
      drawn.index = bit_field(std::min(low_bit, highest_bit + 1 - bits), bits);
      break;
    }
    case Kind::xor_masks:
      drawn.index = xor_masks(draws, line_bit, bits, highest_bit,
                              draws.chance(0.5) ? Masks::folded : Masks::wild);
      break;
    case Kind::modulo: drawn.index = modulo(line_bytes << draw_coarseness(draws, ways)); break;
    case Kind::unequal_modulo:
    case Kind::unequal_table:
      drawn.ways_per_set = draw_unequal_ways(draws, static_cast<std::uint32_t>(sets),
                                             static_cast<std::uint32_t>(ways));
      drawn.index =
          kind == Kind::unequal_modulo ? modulo(line_bytes) : table(line_bytes, drawn.ways_per_set);
      break;
  }
  return drawn;
}

json draw_weights(Draws& draws, std::uint32_t ways) {
  std::vector<double> weights(ways);
  for (double& weight : weights) weight = draws.real(1, 2);
  weights[draws.between(0, ways - 1)] *= 3;  // a favourite, as in the L1 of Fermi
  return weights;
}

}  // namespace

std::uint64_t DrawnSets::lines() const {
  return std::accumulate(ways_per_set.begin(), ways_per_set.end(), std::uint64_t{0});
}

json DrawnSets::to_json() const {
  const bool equal = ways_per_set.front() == ways_per_set.back();
  json geometry{{"index", index}};
  if (equal) {
    geometry["sets"] = ways_per_set.size();
    geometry["ways"] = ways_per_set.front();
    return geometry;
  }
  const auto wide = static_cast<std::size_t>(
      std::count(ways_per_set.begin(), ways_per_set.end(), ways_per_set.front()));
  geometry["ways_per_set"] = {
      {{"sets", wide}, {"ways", ways_per_set.front()}},
      {{"sets", ways_per_set.size() - wide}, {"ways", ways_per_set.back()}}};
  return geometry;
}

DrawnSets draw_first_level_sets(Draws& draws, std::uint64_t line_bytes, Placing placing) {
  for (;;) {
    DrawnSets drawn = try_first_level(draws, line_bytes, placing);
    const std::uint64_t size_bytes = drawn.lines() * line_bytes;
    if (size_bytes >= 4_KiB && size_bytes <= 256_KiB) return drawn;
  }
}

DrawnSets draw_second_level_sets(Draws& draws, std::uint64_t line_bytes, Placing placing) {
  for (;;) {
    const auto ways = static_cast<std::uint32_t>(draws.between(4, 24));
    const std::uint64_t usual_bytes = draws.chance(0.8) ? 1_MiB : 4_MiB;
    const std::uint64_t sets = draws.log_between(256_KiB, usual_bytes) / line_bytes / ways;
    const bool folds = placing == Placing::by_blocks || draws.chance(0.7);
    DrawnSets drawn;
    drawn.ways_per_set.assign(folds ? std::bit_floor(sets) : sets, ways);
    const std::uint64_t size_bytes = drawn.lines() * line_bytes;
    if (size_bytes < 256_KiB || size_bytes > 4_MiB) continue;
    const int line_bit = log2_of(line_bytes);
    const int bits = log2_of(std::bit_floor(sets));
    drawn.index = !folds ? modulo(line_bytes)
                  : draws.chance(0.25)
                      ? bit_field(line_bit, bits)
                      : xor_masks(draws, line_bit, bits, highest_hashed_bit, Masks::folded);
    return drawn;
  }
}

DrawnSets plain_sets(std::uint64_t line_bytes, std::uint64_t sets, std::uint32_t ways) {
  return {std::vector<std::uint32_t>(sets, ways), bit_field(log2_of(line_bytes), log2_of(sets))};
}

DrawnSets draw_hashed_sets(Draws& draws, std::uint64_t line_bytes, std::uint64_t sets,
                           std::uint32_t ways) {
  const int low_bit = log2_of(line_bytes);
  const int top_bit = std::max(highest_hashed_bit, low_bit + log2_of(sets) + 3);
  return {std::vector<std::uint32_t>(sets, ways),
          xor_masks(draws, low_bit, log2_of(sets), top_bit, Masks::folded)};
}

DrawnSets draw_slices(Draws& draws, std::uint64_t line_bytes, std::uint64_t slices,
                      std::uint64_t sets_of_slice, std::uint32_t ways) {
  constexpr int slice_hash_bits = 12;  // so many that the remainders come nearly equally often
  DrawnSets drawn;
  drawn.ways_per_set.assign(slices * sets_of_slice, ways);
  json slice_index =
      xor_masks(draws, log2_of(line_bytes), slice_hash_bits, highest_hashed_bit, Masks::wild);
  slice_index["kind"] = "xor_modulo";
  drawn.index = {{"kind", "slices"},
                 {"within", draw_hashed_sets(draws, line_bytes, sets_of_slice, ways).index}};
  drawn.slices = {{"count", slices}, {"index", slice_index}, {"spread_cycles", draws.real(0, 8)}};
  return drawn;
}

DrawnSets draw_sliced_sets(Draws& draws, std::uint64_t line_bytes) {
  const std::uint64_t slices = draws.pick({3, 5, 6, 7, 10, 12});
  const auto ways = static_cast<std::uint32_t>(draws.between(4, 16));
  const std::uint64_t lines = draws.log_between(256_KiB, 1_MiB) / line_bytes;
  const std::uint64_t sets = std::bit_floor(std::max<std::uint64_t>(1, lines / ways / slices));
  return draw_slices(draws, line_bytes, slices, sets, ways);
}

DrawnSets draw_sized_sets(Draws& draws, std::uint64_t line_bytes, std::uint64_t least_bytes,
                          std::uint64_t most_bytes, Placing placing) {
  for (;;) {
    const std::uint64_t lines = draws.log_between(least_bytes, most_bytes) / line_bytes;
    const std::uint64_t ways = draws.log_between(1, std::min<std::uint64_t>(32, lines));
    const std::uint64_t sets = lines / ways;
    const bool folds = placing == Placing::by_blocks || draws.chance(0.75);
    DrawnSets drawn;
    drawn.ways_per_set.assign(folds ? std::bit_floor(sets) : sets,
                              static_cast<std::uint32_t>(ways));
    const std::uint64_t size_bytes = drawn.lines() * line_bytes;
    if (size_bytes < least_bytes || size_bytes > most_bytes) continue;
    const int bits = log2_of(std::bit_floor(sets));
    drawn.index = !folds ? modulo(line_bytes)
                  : draws.chance(0.6)
                      ? bit_field(log2_of(line_bytes), bits)
                      : xor_masks(draws, log2_of(line_bytes), bits, highest_bit, Masks::folded);
    return drawn;
  }
}

DrawnSets full_associativity(std::uint32_t ways) { return {{ways}, bit_field(0, 0)}; }

DrawnSets draw_tlb_sets(Draws& draws, std::uint64_t entries, std::uint64_t entry_bytes) {
  const auto ways = static_cast<std::uint32_t>(draws.between(4, 16));
  const auto sets = static_cast<std::uint32_t>(std::max<std::uint64_t>(2, entries / ways));
  const int entry_bit = log2_of(entry_bytes);
  DrawnSets drawn;
  if (draws.chance(0.2)) {
    drawn.ways_per_set = draw_unequal_ways(draws, sets, ways);
    drawn.index = draws.chance(0.5) ? modulo(entry_bytes) : table(entry_bytes, drawn.ways_per_set);
  } else if (draws.chance(0.25)) {
    drawn.ways_per_set.assign(sets, ways);
    drawn.index = modulo(entry_bytes);
  } else {
    const int bits = log2_of(std::bit_floor(sets));
    drawn.ways_per_set.assign(std::size_t{1} << bits, ways);
    drawn.index = draws.chance(0.5)
                      ? bit_field(entry_bit, bits)
                      : xor_masks(draws, entry_bit, bits, entry_bit + bits + 3, Masks::folded);
  }
  return drawn;
}

json draw_replacement(Draws& draws, const DrawnSets& sets) {
  constexpr std::size_t sets_with_leaders = 32;  // one of each kind in 32 (Qureshi 2007)
  constexpr std::uint32_t most_weights = 16;
  for (;;) {
    const char* policy = draws.pick_weighted<const char*>({{"lru", 3},
                                                           {"fifo", 1},
                                                           {"tree_plru", 1},
                                                           {"nru", 1},
                                                           {"clock", 1},
                                                           {"srrip", 1},
                                                           {"brrip", 1},
                                                           {"set_duelling", 1},
                                                           {"random", 1},
                                                           {"weighted_ways", 1}});
    const bool duels = policy == std::string("set_duelling");
    if (duels && sets.ways_per_set.size() < sets_with_leaders) continue;
    if (policy != std::string("weighted_ways")) return {{"replacement", policy}};
    const std::uint32_t ways = sets.ways_per_set.front();
    if (ways < 2 || ways > most_weights || ways != sets.ways_per_set.back()) continue;
    return {{"replacement", policy}, {"way_weights", draw_weights(draws, ways)}};
  }
}

}  // namespace sonde::test
