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

}  // namespace sonde
