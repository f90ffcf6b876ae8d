// Reads index functions of a model file: from an address to a set, a slice or a home.
#include "device/sim/model/limits.hpp"
#include "device/sim/model/readers.hpp"

#include <algorithm>

namespace sonde::sim {
namespace {

/// Of slices or of sets; slices of slices are none.
DeclaredIndex read_part(Fields& fields) {
  DeclaredIndex part = read_index(fields);
  if (part.kind == DeclaredIndex::Kind::sliced) fields.fail("kind", "must not be sliced once more");
  return part;
}

}  // namespace

// More sets than any index function may give would be read outside the arrays.
void check_index(const Fields& fields, const DeclaredIndex& index, std::size_t sets) {
  std::uint64_t largest = 0;
  if (index.kind == DeclaredIndex::Kind::bit_field) largest = (1ULL << index.bits) - 1;
  if (index.kind == DeclaredIndex::Kind::xor_masks) largest = (1ULL << index.masks.size()) - 1;
  if (index.kind == DeclaredIndex::Kind::table) {
    largest = *std::max_element(index.table.begin(), index.table.end());
  }
  if (index.kind == DeclaredIndex::Kind::sliced) {
    if (sets % index.slices != 0) fields.fail("index", "must share the sets among its slices");
    check_index(fields, index.parts[0], index.slices);
    check_index(fields, index.parts[1], sets / index.slices);
  }
  if (largest >= sets) {
    fields.fail("index", "reaches set " + std::to_string(largest) + ", but there are only " +
                             std::to_string(sets));
  }
}

DeclaredIndex read_index(Fields& fields) {
  using Kind = DeclaredIndex::Kind;
  DeclaredIndex index;
  index.kind = fields.one_of<Kind>("kind", {{"bit_field", Kind::bit_field},
                                            {"xor_masks", Kind::xor_masks},
                                            {"modulo", Kind::modulo},
                                            {"table", Kind::table},
                                            {"xor_modulo", Kind::xor_modulo},
                                            {"sliced", Kind::sliced}});
  switch (index.kind) {
    case Kind::sliced:
      index.slices = fields.count("slices", {1, limits::slices});
      for (const char* part : {"slice_index", "set_index"}) {
        index.parts.push_back(fields.object(part, read_part));
      }
      break;
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
  }
  return index;
}

}  // namespace sonde::sim
