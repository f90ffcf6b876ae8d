// Whole chunks out, the rest waits.
#include "store/hdf5/column_queue.hpp"

#include "store/hdf5/chunks.hpp"
#include "store/hdf5/column_layout.hpp"
#include "store/hdf5/table_file.hpp"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

// Chunks, each by a thread of its own: more would only wait for the one that reads and writes.
constexpr std::size_t most_packed_at_once = 4;

}  // namespace

ColumnQueue::ColumnQueue(hid_t file, const FilePlan& plan) : file_(file), plan_(plan) {
  for (const TablePlan& table : plan.tables) waiting_.emplace_back(table.columns.size());
}

void ColumnQueue::put(std::size_t table, std::size_t column, RowRange rows,
                      std::span<const std::byte> packed) {
  if (rows.length == 0) return;
  Waiting& waiting = waiting_.at(table).at(column);
  if (waiting.rows.offset + waiting.rows.length != rows.offset) {
    write_rest(table, column);
    waiting.rows = {rows.offset, 0};
  }
  const std::size_t bytes = plan_.tables[table].shapes[column].element_bytes;
  const std::uint64_t chunk = chunk_rows(bytes);
  while (rows.length > 0) {
    const std::uint64_t end = waiting.rows.offset + waiting.rows.length;
    const std::uint64_t taken = std::min(rows.length, chunk - end % chunk);
    waiting.packed.insert(waiting.packed.end(), packed.begin(),
                          packed.begin() + static_cast<std::ptrdiff_t>(taken * bytes));
    waiting.rows.length += taken;
    packed = packed.subspan(taken * bytes);
    rows = {rows.offset + taken, rows.length - taken};
    if (waiting.rows.length == chunk) {
      pack_and_write(table, column);
    } else if ((end + taken) % chunk == 0) {
      write_rest(table, column);
    }
  }
}

void ColumnQueue::flush() {
  while (!packing_.empty()) write_packed_chunk();
  for (std::size_t table = 0; table < waiting_.size(); ++table) {
    for (std::size_t column = 0; column < waiting_[table].size(); ++column) {
      write_rest(table, column);
    }
  }
}

/// A whole chunk: another thread packs it.
void ColumnQueue::pack_and_write(std::size_t table, std::size_t column) {
  Waiting& waiting = waiting_[table][column];
  const TablePlan& plan = plan_.tables[table];
  if (packing_.size() == most_packed_at_once) write_packed_chunk();
  packing_.push_back({table, column, waiting.rows.offset,
                      std::async(std::launch::async, [bytes = std::exchange(waiting.packed, {}),
                                                      width = plan.shapes[column].element_bytes,
                                                      filters = chunk_filters(plan, column)] {
                        return pack_chunk(bytes, width, filters);
                      })});
  waiting.rows = {waiting.rows.offset + waiting.rows.length, 0};
}

/// The first of those that are packed.
void ColumnQueue::write_packed_chunk() {
  Packing chunk = std::move(packing_.front());
  packing_.pop_front();
  write_chunk(file_, plan_.tables[chunk.table], chunk.column, chunk.row, chunk.packed.get());
}

/// Rows that are less than a chunk.
void ColumnQueue::write_rest(std::size_t table, std::size_t column) {
  Waiting& waiting = waiting_[table][column];
  if (waiting.rows.length == 0) return;
  write_packed(file_, plan_.tables[table], column, waiting.rows, waiting.packed.data());
  waiting.rows = {waiting.rows.offset + waiting.rows.length, 0};
  waiting.packed.clear();
}

}  // namespace sonde
