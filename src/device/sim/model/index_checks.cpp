// Whether index functions stay within the sets that a model declares.
#include "device/sim/model/readers.hpp"

#include <algorithm>
#include <string>

namespace sonde::sim {

// More sets than any index function may give would be read outside the arrays.
void check_index(const Fields& fields, const DeclaredIndex& index, std::size_t sets) {
  std::uint64_t largest = 0;
  if (index.kind == DeclaredIndex::Kind::bit_field) largest = (1ULL << index.bits) - 1;
  if (index.kind == DeclaredIndex::Kind::xor_masks) largest = (1ULL << index.masks.size()) - 1;
  if (index.kind == DeclaredIndex::Kind::table) {
    largest = *std::max_element(index.table.begin(), index.table.end());
  }
  if (largest >= sets) {
    fields.fail("index", "reaches set " + std::to_string(largest) + ", but there are only " +
                             std::to_string(sets));
  }
}

void check_sliced_sets(const Fields& fields, const CacheModel& cache,
                       const std::optional<Slices>& slices) {
  for (const Geometry& geometry : cache.geometries) {
    if (geometry.index.kind != DeclaredIndex::Kind::slices) continue;
    const std::size_t sets = geometry.ways_per_set.size();
    const auto count = slices ? static_cast<std::size_t>(slices->count) : 0;
    if (count == 0 || cache.name != "l2" || sets % count != 0) {
      fields.fail("caches",
                  "must have an index of kind slices in the l2 alone, where there are "
                  "`slices`, with as many sets in each");
    }
    check_index(fields, geometry.index.within.front(), sets / count);
  }
}

}  // namespace sonde::sim
