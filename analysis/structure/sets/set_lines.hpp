// Lines of one set, once the function that chooses sets is known.
#pragma once

#include "analysis/structure/index/index_function.hpp"
#include "analysis/structure/sets/line_pool.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde {

/// At most `count` lines of set number `set`, in a random order.
Lines lines_of_set(const IndexFunction& index, const LinePool& space, std::uint64_t set,
                   std::size_t count);

/// Up to 4096 lines of other sets: the co-resident ones first, which are known to push lines out of
/// the inner caches, then those before them, downwards. @pre there are co-resident lines
Lines lines_of_other_sets(const IndexFunction& index, const LinePool& space, std::uint64_t set);

}  // namespace sonde
