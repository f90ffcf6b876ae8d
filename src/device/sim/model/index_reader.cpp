// Reads index functions of a model file: from an address to a set or a slice, and the slices.
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <algorithm>
#include <numeric>

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

void refuse_slices(const Fields& fields, const std::string& key, const DeclaredIndex& index) {
  if (index.kind != DeclaredIndex::Kind::slices) return;
  fields.fail(key, "must not be of kind slices (only the sets of the l2 lie in slices)");
}

DeclaredIndex read_index(Fields& fields) {
  using Kind = DeclaredIndex::Kind;
  DeclaredIndex index;
  index.kind = fields.one_of<Kind>(
      "kind", {"bit_field", "xor_masks", "modulo", "table", "xor_modulo", "slices"});
  switch (index.kind) {
    case Kind::bit_field:
      index.low_bit = fields.count<int>("low_bit", {0, 47});
      index.bits = fields.count<int>("bits", {0, 24});
      break;
    case Kind::xor_masks:
    case Kind::xor_modulo:
      index.masks = fields.list("masks", &Value::mask);
      if (index.masks.empty() || index.masks.size() > 24) {
        fields.fail("masks", "must be 1 to 24 masks");
      }
      break;
    case Kind::modulo:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      break;
    case Kind::table:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      index.table = fields.counts("table", {0, limits::sets});
      if (index.table.empty()) fields.fail("table", "must not be empty");
      break;
    case Kind::slices:
      index.within.push_back(fields.object("within", read_index));
      if (index.within.front().kind == Kind::slices) {
        fields.fail("within", "must choose among the sets of a slice");
      }
      break;
  }
  return index;
}

Slices::Slices(Fields& fields) : Section(fields), index(fields.object("index", read_index)) {
  refuse_slices(fields, "index", index);
  check_index(fields, index, static_cast<std::size_t>(count));
  std::vector<std::uint32_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0u);
  if (second_order.mask != 0 && !std::ranges::is_permutation(second_order.slices, all)) {
    fields.fail("second_order.slices", "must name every slice once");
  }
  if (fields.has("sides") && sides.of_slice.size() != all.size()) {
    fields.fail("sides.of_slice", "must hold side 0 or 1 for each slice");
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
