// Rows of many parts on their way into columns that one process writes: each column waits until a
// whole chunk is there, so that no chunk is packed twice.
#pragma once

#include "store/plan.hpp"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <span>
#include <vector>

namespace sonde {

/// In memory are at most a chunk of each column, some that other threads pack, and what was put
/// last.
class ColumnQueue {
 public:
  /// @param file with the tables of the plan; both outlive the queue
  ColumnQueue(hid_t file, const FilePlan& plan);

  /// Rows of a column, in the order of the file; between two calls some may be left to nobody.
  /// @param table, column their places in the plan
  /// @param packed as the plan wants them @throws StoreError
  void put(std::size_t table, std::size_t column, RowRange rows, std::span<const std::byte> packed);

  /// Writes what waits. @throws StoreError
  void flush();

 private:
  struct Waiting {
    RowRange rows;
    std::vector<std::byte> packed;
  };
  struct Packing {
    std::size_t table;
    std::size_t column;
    std::uint64_t row;  // the first
    std::future<std::vector<std::uint8_t>> packed;
  };
  void pack_and_write(std::size_t table, std::size_t column);
  void write_packed_chunk();
  void write_rest(std::size_t table, std::size_t column);

  hid_t file_;
  const FilePlan& plan_;
  std::vector<std::vector<Waiting>> waiting_;  // of each table and column
  std::deque<Packing> packing_;
};

}  // namespace sonde
