// Reads index functions of a model file: from an address to a set, a slice or a home.
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <algorithm>

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
  index.kind = fields.one_of<Kind>("kind", {{"bit_field", Kind::bit_field},
                                            {"xor_masks", Kind::xor_masks},
                                            {"modulo", Kind::modulo},
                                            {"table", Kind::table},
                                            {"xor_modulo", Kind::xor_modulo},
                                            {"slices", Kind::slices}});
  switch (index.kind) {
    case Kind::bit_field:
      index.low_bit = fields.count<int>("low_bit", {0, 47});
      index.bits = fields.count<int>("bits", {0, 24});
      break;
    case Kind::xor_masks:
    case Kind::xor_modulo:
      index.masks = fields.mask_list("masks");
      if (index.masks.size() > 24) fields.fail("masks", "must be at most 24 masks");
      break;
    case Kind::modulo:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      break;
    case Kind::table:
      index.granularity_bytes = fields.bytes("granularity_bytes", limits::entry_bytes);
      index.table = fields.list<std::uint32_t>("table");
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

}  // namespace sonde::sim
