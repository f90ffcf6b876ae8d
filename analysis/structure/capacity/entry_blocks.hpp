// How large an entry of a TLB is, from chases that meet one page of each block of memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sonde {

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
