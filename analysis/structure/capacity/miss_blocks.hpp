// Bytes, or block of texels of a two-dimensional texture, that one miss of a first access fetches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// A block size, and the fraction of observations that agree with it.
struct BlockSize {
  std::uint64_t bytes = 0;
  double agreement = 0;  // 0..1
  std::uint64_t observations = 0;
};

/// The most common distance between neighbouring misses of ascending positions, `step_bytes` apart
/// and accessed for the first time: the bytes that one miss fetches (Mei and Chu 2016, section 4.2,
/// step 2). nullopt if there are fewer than two misses.
std::optional<BlockSize> miss_distance(const std::vector<bool>& missing, std::uint64_t step_bytes);

/// Misses of a first access to texels, row by row.
struct TexelMisses {
  std::size_t rows = 0;      // a power of two
  std::size_t columns = 0;   // a power of two
  std::vector<bool> missed;  // [row * columns + column]
};

/// A rectangle of texels that one miss fetches.
struct TexelBlock {
  std::size_t rows = 0;
  std::size_t columns = 0;
  double agreement = 0;  // fraction of the blocks with exactly one miss
  std::uint64_t observations = 0;
};

/// The rectangle (powers of two) that divides the texels into blocks of exactly one miss each.
/// nullopt if no rectangle does so for 90 % of its blocks, or only that of all texels.
std::optional<TexelBlock> find_texel_block(const TexelMisses& texels);

/// True if the first share is at least 0.6 of the second.
bool misses_as_often(double missing_share, double other_share);

/// Doublings from the first block size to the size of an entry. missing_shares[i] is the fraction
/// of blocks of 2^i units that misses, with one access per block and a span 40 % beyond the level's
/// reach. Blocks larger than an entry touch half as many entries or fewer; these fit, and miss only
/// in sets that are overfilled by chance. If the level evicts the newest entry first, pages that
/// share an entry may miss more often than entries: the share then falls once and stays. nullopt if
/// the share falls slowly: parts of entries under random replacement look like small entries in
/// sets that chance overfills.
std::optional<std::size_t> doublings_to_entry(const std::vector<double>& missing_shares);

}  // namespace sonde
