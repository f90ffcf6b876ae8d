// What one miss brings, from the misses of a first access: along ascending addresses, or to a
// square of texels of a two-dimensional texture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

/// A block size with the share of observations that agree with it.
struct BlockSize {
  std::uint64_t bytes = 0;
  double agreement = 0;  // 0..1
  std::uint64_t observations = 0;
};

/// Positions lie `step_bytes` apart, ascending, accessed for the first time: the commonest distance
/// between neighbouring misses is what one miss brings (Mei and Chu 2016, section 4.2, step 2).
/// nullopt with fewer than two misses.
std::optional<BlockSize> miss_distance(const std::vector<bool>& missing, std::uint64_t step_bytes);

/// A first access to texels, row by row.
struct TexelMisses {
  std::size_t rows = 0;      // a power of two
  std::size_t columns = 0;   // likewise
  std::vector<bool> missed;  // [row * columns + column]
};

/// A rectangle of texels that arrive together.
struct TexelBlock {
  std::size_t rows = 0;
  std::size_t columns = 0;
  double agreement = 0;  // share of the blocks in the square that missed exactly once
  std::uint64_t observations = 0;
};

/// The rectangle, of powers of two, that parts the square into blocks of exactly one miss each.
/// nullopt if no rectangle does so for nine tenths of its blocks, or only the whole square would.
std::optional<TexelBlock> find_texel_block(const TexelMisses& texels);

/// Whether blocks of one size miss as those of another: at least 0.6 times as often.
bool misses_as_often(double missing_share, double other_share);

/// The largest block that takes an entry, in doublings of the first. Each share is that of the
/// blocks that miss, of a span that overflows the level by two fifths; the first is of single
/// units, each further one of blocks twice as large. Half as many blocks as entries fit, so that
/// few of them miss: those of sets that chance overfills. Pages that share an entry may miss more
/// than entries do, where the level throws out first what was asked for last: then fewer miss of
/// larger blocks, but as many again of the next. nullopt where fewer and fewer miss of ever larger
/// blocks: parts of entries that leave at random look like small entries that chance overfills.
std::optional<std::size_t> doublings_to_entry(const std::vector<double>& missing_shares);

}  // namespace sonde
