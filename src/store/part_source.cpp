// Parts from memory and from shards. A shard has the tables of its part as they are: its rows count
// from 0, and so do those of a part.
#include "store/part_source.hpp"

#include "base/error.hpp"
#include "store/hdf5/hdf5.hpp"
#include "store/hdf5/rows.hpp"
#include "store/hdf5/table_file.hpp"
#include "store/run_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace sonde {
namespace {

PartShape shape_of_shard(hid_t file, const std::filesystem::path& path,
                         const std::vector<std::string>& jobs, const Table& unaudited) {
  PartShape shape{.jobs = jobs, .tables = {}, .shard = path};
  const auto add_stored = [&](const std::vector<Table>& tables) {
    for (const Table& table : tables) add_table(shape, table.key, read_shape(file, table));
  };
  add_stored(flatten_device(nullptr));
  add_table(shape, unaudited);
  for (const std::string& job : jobs) add_stored(flatten_job(job, nullptr, 0));
  return shape;
}

PartSource from_memory(const RunPart& part) {
  PartShape shape = shape_of(part);
  std::map<TableKey, Table> tables;
  for_each_table(part, shape.jobs, [&tables](const Table& table) { tables[table.key] = table; });
  return {.shape = std::move(shape),
          .load = [tables = std::move(tables)](const TablePlan& plan, std::size_t c) {
            const auto own = tables.find(plan.key);
            return own == tables.end() ? empty_values(plan.columns.at(c).type)
                                       : own->second.values.at(c);
          }};
}

}  // namespace

PartSource part_in_memory(const DeviceResult& device, std::vector<UnauditedDevice> unaudited) {
  return from_memory({.device = &device, .unaudited = std::move(unaudited)});
}

PartSource at_point(PartSource part, std::uint64_t point_index) {
  const Table empty = std::move(flatten_device(nullptr).front());
  const auto found = std::ranges::find(empty.columns, point_column, &ColumnSpec::name);
  const auto place = static_cast<std::size_t>(found - empty.columns.begin());
  TableShape shape = part.shape.of(empty.key);
  const Values values = std::vector<std::uint64_t>(shape.rows, point_index);
  shape.columns.at(place) = {.element_bytes = element_bytes(found->type, values),
                             .constant = constant_of(found->type, values)};
  add_table(part.shape, empty.key, std::move(shape));
  part.load = [load = std::move(part.load), key = empty.key, place, values](const TablePlan& plan,
                                                                            std::size_t c) {
    return plan.key == key && c == place ? values : load(plan, c);
  };
  return part;
}

PartSource part_without_device(std::vector<UnauditedDevice> unaudited) {
  return from_memory({.device = nullptr, .unaudited = std::move(unaudited)});
}

PartSource part_of_shard(const std::filesystem::path& shard,
                         const std::vector<UnauditedDevice>& unaudited, Writer writer) {
  const RunReader reader(shard);
  if (reader.device_count() != 1) {
    throw StoreError(
        fmt::format("'{}' holds {} devices (a shard holds one) remove it and start "
                    "again with --resume",
                    shard.string(), reader.device_count()));
  }
  // Of others, all that refers to something else is looked at first.
  if (writer == Writer::anyone) reader.read_devices({0, 1}, WithTraces::no);
  const std::vector<std::string> jobs = reader.job_names();
  const auto file = std::make_shared<hdf5::Handle>(hdf5::open_to_read(shard));
  Table unaudited_rows = std::move(flatten_unaudited(unaudited).front());
  PartShape shape = shape_of_shard(*file, shard, jobs, unaudited_rows);
  auto load = [file, shape, writer, unaudited_rows = std::move(unaudited_rows)](
                  const TablePlan& plan, std::size_t c) {
    if (plan.key == unaudited_rows.key) return unaudited_rows.values.at(c);
    const ColumnSpec& column = plan.columns.at(c);
    const std::uint64_t rows = shape.rows_of(plan.key);
    return rows == 0 ? empty_values(column.type)
                     : read_column(*file, plan.key, column, rows, writer);
  };
  return {.shape = std::move(shape), .load = std::move(load)};
}

}  // namespace sonde
