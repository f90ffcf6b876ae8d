// Types, chunks and filters.
#include "store/hdf5/column_layout.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

// Below it compression gains less than the filter's own bytes.
constexpr std::size_t least_compressed_bytes = 1 << 10;
// The fastest level: with shuffle before it, higher ones gained below 5 % on traces.
constexpr int number_level = 1;
// Texts of equal width: a third smaller than at the fastest level, in no more time.
constexpr int text_level = 6;

}  // namespace

Handle file_type(ElementType type, std::size_t element_bytes) {
  const auto copy = [](hid_t kind) { return Handle(H5Tcopy(kind), H5Tclose, "making a type"); };
  switch (type) {
    case ElementType::u8: return copy(H5T_STD_U8LE);
    case ElementType::u32: return copy(element_bytes == 2 ? H5T_STD_U16LE : H5T_STD_U32LE);
    case ElementType::u64:
      return copy(element_bytes == 2   ? H5T_STD_U16LE
                  : element_bytes == 4 ? H5T_STD_U32LE
                                       : H5T_STD_U64LE);
    case ElementType::row: return copy(H5T_STD_U64LE);
    case ElementType::i32: return copy(H5T_STD_I32LE);
    case ElementType::i64: return copy(H5T_STD_I64LE);
    case ElementType::f64: return copy(H5T_IEEE_F64LE);
    case ElementType::text: return hdf5::utf8_type(element_bytes);
    case ElementType::name: return copy(element_bytes == 2 ? H5T_STD_U16LE : H5T_STD_U32LE);
  }
  throw Error("unknown element type");
}

Handle make_space(std::uint64_t rows) {
  const hsize_t size = rows;
  return Handle(H5Screate_simple(1, &size, nullptr), H5Sclose, "making a space");
}

Handle bare_layout() {
  Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(creation, false), "switching time stamps off");
  return creation;
}

ChunkFilters chunk_filters(const TablePlan& table, std::size_t c) {
  const std::size_t element_bytes = table.shapes[c].element_bytes;
  if (table.rows * element_bytes < least_compressed_bytes) return {};
  const bool numbers = table.columns[c].type != ElementType::text;
  return {.shuffle = numbers && element_bytes > 1,
          .deflate_level = numbers ? number_level : text_level};
}

Handle column_layout(const TablePlan& table, std::size_t c, hid_t type) {
  Handle creation = bare_layout();
  if (table.rows == 0) return creation;
  if (table.storage[c] == Storage::constant) {
    std::vector<std::uint8_t> value = table.shapes[c].constant;
    value.resize(table.shapes[c].element_bytes, 0);
    check(H5Pset_fill_value(creation, type, value.data()), "setting the value of a column");
    return creation;
  }
  // Parallel HDF5 would fill each column, and wait for all ranks, before its rows are written.
  check(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "no filling");
  if (table.storage[c] == Storage::shared) {
    // Now, by one process: ranks would do it together where they open the column, and one that
    // cannot would leave the others behind.
    check(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), "making the chunks of a column");
  }
  const std::size_t element_bytes = table.shapes[c].element_bytes;
  const hsize_t chunk = std::min<hsize_t>(table.rows, chunk_rows(element_bytes));
  check(H5Pset_chunk(creation, 1, &chunk), "setting the chunk size");
  // First, so that it guards what the other filters make of a damaged chunk, too.
  check(H5Pset_fletcher32(creation), "choosing checksums");
  const ChunkFilters filters = chunk_filters(table, c);
  if (filters.shuffle) check(H5Pset_shuffle(creation), "choosing shuffle");
  if (filters.deflate_level > 0) {
    check(H5Pset_deflate(creation, static_cast<unsigned>(filters.deflate_level)),
          "choosing compression");
  }
  return creation;
}

}  // namespace sonde
