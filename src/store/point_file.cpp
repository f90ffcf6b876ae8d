// Points as a table whose columns depend on the axes.
#include "store/point_file.hpp"

#include "base/units.hpp"
#include "store/hdf5/table_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace sonde {
namespace {

const TableKey key{"points", "point"};
constexpr const char* axes_attribute = "axes_json";
// More axes than a person has options to vary.
constexpr std::size_t most_axes = 64;

/// The columns that every point has.
std::vector<ColumnSpec> fixed_columns() {
  return {{"seed", "1", "seed of its random choices", ElementType::u64},
          {"repeat_index", "1", "how many times the same was measured before", ElementType::u64},
          {"config_hash", "", "hash of the options that decide its results", ElementType::text},
          {"config_json", "", "all options, resolved", ElementType::text}};
}

ColumnSpec column_of(const Axis& axis) {
  std::string name = axis.option;
  std::ranges::replace(name, '-', '_');
  const auto fixed = fixed_columns();
  const bool clashes =
      name == key.dimension || std::ranges::count(fixed, name, &ColumnSpec::name) > 0;
  if (name.empty() || clashes || name.find('/') != std::string::npos) {
    throw StoreError(fmt::format("'{}' cannot name an axis of a sweep", axis.option));
  }
  return {name, axis.is_number ? axis.unit : "", "value of the option " + axis.option,
          axis.is_number ? ElementType::f64 : ElementType::text};
}

std::vector<ColumnSpec> columns_of(const std::vector<Axis>& axes) {
  std::vector<ColumnSpec> columns = fixed_columns();
  for (const Axis& axis : axes) columns.push_back(column_of(axis));
  return columns;
}

template <class Value, class Take>
Values column(const std::vector<Point>& points, const Take& take) {
  std::vector<Value> values;
  for (const Point& point : points) values.push_back(take(point));
  return values;
}

Values axis_values(const Provenance& provenance, std::size_t axis) {
  if (!provenance.axes[axis].is_number) {
    return column<std::string>(provenance.points,
                               [axis](const Point& point) { return point.at.at(axis); });
  }
  return column<double>(provenance.points, [axis](const Point& point) {
    return parse_quantity(point.at.at(axis)).value_or(std::numeric_limits<double>::quiet_NaN());
  });
}

/// A plain run says all in its provenance.
bool is_plain(const Provenance& provenance) {
  return provenance.points.empty() || (provenance.points.size() == 1 && provenance.axes.empty() &&
                                       provenance.points.front().repeat_index == 0);
}

std::vector<Axis> read_axes(hid_t file) {
  const hdf5::Handle group = hdf5::open_group(file, key.group.c_str());
  std::vector<Axis> axes;
  const auto list =
      nlohmann::json::parse(hdf5::read_text_attribute(group, axes_attribute), nullptr, false);
  if (!list.is_array() || list.size() > most_axes) throw StoreError("/points has no axes");
  try {
    for (const auto& axis : list) {
      axes.push_back({.option = axis.at("option").get<std::string>(),
                      .unit = axis.at("unit").get<std::string>(),
                      .is_number = axis.at("is_number").get<bool>()});
    }
  } catch (const nlohmann::json::exception& error) {
    throw StoreError(fmt::format("/points has no sound axes: {}", error.what()));
  }
  return axes;
}

}  // namespace

void write_points(hid_t file, const Provenance& provenance) {
  if (is_plain(provenance)) return;
  const std::vector<Point>& points = provenance.points;
  Table table{.key = key, .columns = columns_of(provenance.axes), .values = {}};
  table.values.push_back(column<std::uint64_t>(points, [](const auto& one) { return one.seed; }));
  table.values.push_back(
      column<std::uint64_t>(points, [](const auto& one) { return one.repeat_index; }));
  table.values.push_back(
      column<std::string>(points, [](const auto& one) { return one.config_hash; }));
  table.values.push_back(
      column<std::string>(points, [](const auto& one) { return one.config_json; }));
  nlohmann::json axes = nlohmann::json::array();
  for (std::size_t i = 0; i < provenance.axes.size(); ++i) {
    const Axis& axis = provenance.axes[i];
    table.values.push_back(axis_values(provenance, i));
    axes.push_back({{"option", axis.option}, {"unit", axis.unit}, {"is_number", axis.is_number}});
  }
  write_tables(file, {table});
  const hdf5::Handle group = hdf5::open_group(file, key.group.c_str());
  hdf5::write_fixed_attribute(group, axes_attribute, axes.dump());
}

void read_points(StoredFile& file, Provenance& provenance) {
  const StoredTable& table = file.table(key);
  const std::uint64_t rows = table.rows();
  if (rows == 0) {
    provenance.points = points_of(provenance);
    return;
  }
  provenance.axes = read_axes(file.id());
  std::vector<Values> columns;
  for (const PackedColumn& packed : table.read(columns_of(provenance.axes), {0, rows})) {
    columns.push_back(unpack(packed));
  }
  provenance.points.resize(rows);
  for (std::uint64_t i = 0; i < rows; ++i) {
    Point& point = provenance.points[i];
    point.seed = std::get<std::vector<std::uint64_t>>(columns[0])[i];
    point.repeat_index = std::get<std::vector<std::uint64_t>>(columns[1])[i];
    point.config_hash = std::get<std::vector<std::string>>(columns[2])[i];
    point.config_json = std::get<std::vector<std::string>>(columns[3])[i];
    for (std::size_t axis = 0; axis < provenance.axes.size(); ++axis) {
      const Values& values = columns[fixed_columns().size() + axis];
      const auto* numbers = std::get_if<std::vector<double>>(&values);
      point.at.push_back(numbers ? fmt::format("{}", (*numbers)[i])
                                 : std::get<std::vector<std::string>>(values)[i]);
    }
  }
}

}  // namespace sonde
