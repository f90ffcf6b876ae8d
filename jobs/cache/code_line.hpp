// The line of a cache of code, where it may be shorter than the blocks of code that are executed.
#pragma once

#include "jobs/chase/cache_under_test.hpp"

#include <optional>

namespace sonde {

struct LineWithinBlock {
  std::uint64_t bytes = 0;
  double contrast = 0;  // 0..1: how clearly blocks up to the line and beyond it differ
};

/// The line of a cache of code that fetches less than a block. Part by part, from the last fetch of
/// a block on: if blocks that are entered there stay in twice as great a number as those that are
/// entered as far again before it, what lies before is a line of its own. If they do not, blocks
/// are entered at the later place, so many that lines leave, and then at the earlier one: what lies
/// before misses there only if it left with the same line. nullopt if too few lines leave, or a
/// fetch is more than half a block.
/// @pre the line is no longer than a block
std::optional<LineWithinBlock> measure_line_within_block(const CacheUnderTest& cache,
                                                         std::uint64_t coarse_size_bytes,
                                                         std::uint64_t fetch_bytes);

}  // namespace sonde
