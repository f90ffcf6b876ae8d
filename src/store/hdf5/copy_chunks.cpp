// Chunks from shards into a run file, packed as they are.
#include "store/hdf5/copy_chunks.hpp"

#include "store/hdf5/dataset.hpp"
#include "store/hdf5/hdf5.hpp"

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

void copy_column(hid_t file, hid_t shard, const TablePlan& table, std::size_t c, std::size_t part) {
  const std::string path = table.key.group + "/" + table.columns[c].name;
  const Dataset from = open_dataset(shard, path);
  const Dataset to = open_dataset(file, path);
  const std::uint64_t rows = table.part_rows.at(part);
  if (extent_of(from, path) != rows) throw StoreError(path + " has changed");
  for (std::uint64_t row = 0; row < rows; row += chunk_rows(table.shapes[c].element_bytes)) {
    const std::vector<std::uint8_t> packed = read_chunk(from, path, row);
    const hsize_t target = table.first_row.at(part) + row;
    check(H5Dwrite_chunk(to, H5P_DEFAULT, 0, &target, packed.size(), packed.data()),
          "writing " + path);
  }
}

}  // namespace

void copy_chunks(hid_t file, const FilePlan& plan, std::size_t part) {
  if (plan.shards.at(part).empty()) return;
  const Handle shard = hdf5::open_to_read(plan.shards[part]);
  for (const TablePlan& table : plan.tables) {
    if (table.part_rows.at(part) == 0) continue;
    for (const std::size_t c : table.columns_of(Storage::copied)) {
      copy_column(file, shard, table, c, part);
    }
  }
}

}  // namespace sonde
