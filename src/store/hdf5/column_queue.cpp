// Whole chunks out, the rest waits.
#include "store/hdf5/column_queue.hpp"

#include "store/hdf5/table_file.hpp"

namespace sonde {

ColumnQueue::ColumnQueue(hid_t file, const FilePlan& plan) : file_(file), plan_(plan) {
  for (const TablePlan& table : plan.tables) waiting_.emplace_back(table.columns.size());
}

void ColumnQueue::put(std::size_t table, std::size_t column, RowRange rows,
                      const std::vector<std::byte>& packed) {
  if (rows.length == 0) return;
  Waiting& waiting = waiting_.at(table).at(column);
  if (waiting.rows.offset + waiting.rows.length != rows.offset) {
    write(table, column, waiting.rows.length);
    waiting.rows = {rows.offset, 0};
  }
  waiting.packed.insert(waiting.packed.end(), packed.begin(), packed.end());
  waiting.rows.length += rows.length;
  const std::uint64_t chunk = chunk_rows(plan_.tables[table].shapes[column].element_bytes);
  const std::uint64_t end = waiting.rows.offset + waiting.rows.length;
  const std::uint64_t border = end / chunk * chunk;
  if (border > waiting.rows.offset) write(table, column, border - waiting.rows.offset);
}

void ColumnQueue::flush() {
  for (std::size_t table = 0; table < waiting_.size(); ++table) {
    for (std::size_t column = 0; column < waiting_[table].size(); ++column) {
      write(table, column, waiting_[table][column].rows.length);
    }
  }
}

/// The first of those that wait.
void ColumnQueue::write(std::size_t table, std::size_t column, std::uint64_t rows) {
  if (rows == 0) return;
  Waiting& waiting = waiting_[table][column];
  const TablePlan& plan = plan_.tables[table];
  write_packed(file_, plan, column, {waiting.rows.offset, rows}, waiting.packed.data());
  const std::uint64_t bytes = rows * plan.shapes[column].element_bytes;
  waiting.packed.erase(waiting.packed.begin(),
                       waiting.packed.begin() + static_cast<std::ptrdiff_t>(bytes));
  waiting.rows = {waiting.rows.offset + rows, waiting.rows.length - rows};
}

}  // namespace sonde
