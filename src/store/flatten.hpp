// Results to tables. Offsets and indices in these tables count from the part's own first row; the
// plan knows where that row comes to lie in the file.
#pragma once

#include "analysis/results.hpp"
#include "store/table.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sonde {

/// What one rank, or one source of a merge, contributes to a file.
struct RunPart {
  const DeviceResult* device = nullptr;
  std::vector<UnauditedDevice> unaudited;
};

std::vector<Table> flatten_device(const DeviceResult* device);
std::vector<Table> flatten_unaudited(const std::vector<UnauditedDevice>& unaudited);
/// All tables of a job; without rows if `result` is nullptr.
std::vector<Table> flatten_job(const std::string& job, const JobResult* result,
                               std::uint64_t position);

/// Every table of the part in the order of the file, one group of them in memory at a time.
/// @param jobs those of the whole file; the part need not have all
void for_each_table(const RunPart& part, const std::vector<std::string>& jobs,
                    const std::function<void(const Table&)>& visit);

/// Rows and element sizes of one table in one part.
struct TableShape {
  std::uint64_t rows = 0;
  std::vector<std::size_t> element_bytes;  // one per column
};

/// What ranks exchange before they write: jobs in the order they ran, tables in that of the file.
struct PartShape {
  std::vector<std::string> jobs;
  std::vector<TableShape> tables;
};

/// @throws Error if a job occurs twice, or its name cannot be a group's
PartShape shape_of(const RunPart& part);

std::string to_json(const PartShape& shape);
PartShape shape_from_json(const std::string& text);

/// One table of the file, with the place of each part's rows.
struct TablePlan {
  TableKey key;
  std::vector<ColumnSpec> columns;
  std::vector<std::size_t> element_bytes;
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> first_row;   // of each part
  std::vector<std::uint64_t> row_counts;  // of each part
};

struct FilePlan {
  std::vector<std::string> jobs;  // in the order of their first appearance
  std::vector<TablePlan> tables;

  /// First row of a part in the table that a column counts; 0 for columns that count none.
  std::uint64_t shift(const ColumnSpec& column, std::size_t part) const;
};

/// Of a table that no other part shares.
TablePlan plan_alone(const Table& table);

/// The same on every rank, given the same shapes.
FilePlan make_plan(const std::vector<PartShape>& parts);

}  // namespace sonde
