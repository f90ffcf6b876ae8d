// Points as a table whose columns depend on the axes.
#include "store/point_file.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace sonde {
namespace {

const TableKey key{"points", "point"};

/// The columns that every point has.
std::vector<ColumnSpec> fixed_columns() {
  return {{"seed", "1", "seed of its random choices", ElementType::u64},
          {"repeat_index", "1", "how many times the same was measured before", ElementType::u64},
          {"config_hash", "", "hash of the options that decide its results", ElementType::text,
           names_key},
          {"config_json", "", "all options, resolved", ElementType::text, names_key}};
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
          axis.is_number ? ElementType::f64 : ElementType::text,
          axis.is_number ? TableKey{} : names_key};
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

Values axis_values(const Provenance& provenance, std::size_t axis, Names& names) {
  if (!provenance.axes[axis].is_number) {
    return column<std::uint32_t>(
        provenance.points, [&](const Point& point) { return names.row_of(point.at.at(axis)); });
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

}  // namespace

std::vector<Table> point_tables(const Provenance& provenance, Names& names) {
  if (is_plain(provenance)) return {};
  const std::vector<Point>& points = provenance.points;
  Table table{.key = key, .columns = columns_of(provenance.axes), .values = {}};
  table.values.push_back(column<std::uint64_t>(points, [](const auto& one) { return one.seed; }));
  table.values.push_back(
      column<std::uint64_t>(points, [](const auto& one) { return one.repeat_index; }));
  table.values.push_back(column<std::uint32_t>(
      points, [&](const auto& one) { return names.row_of(one.config_hash); }));
  table.values.push_back(column<std::uint32_t>(
      points, [&](const auto& one) { return names.row_of(one.config_json); }));
  for (std::size_t axis = 0; axis < provenance.axes.size(); ++axis) {
    table.values.push_back(axis_values(provenance, axis, names));
  }
  return {std::move(table)};
}

void read_points(const StoredTables& root, Provenance& provenance) {
  const std::uint64_t rows = root.rows(key);
  if (rows == 0) {
    provenance.points = points_of(provenance);
    return;
  }
  const std::vector<Values> columns = root.read(key, columns_of(provenance.axes), {0, rows});
  const auto text_at = [&](std::size_t c, std::uint64_t row) {
    return std::string(root.names().at(std::get<std::vector<std::uint32_t>>(columns[c])[row]));
  };
  provenance.points.resize(rows);
  for (std::uint64_t i = 0; i < rows; ++i) {
    Point& point = provenance.points[i];
    point.seed = std::get<std::vector<std::uint64_t>>(columns[0])[i];
    point.repeat_index = std::get<std::vector<std::uint64_t>>(columns[1])[i];
    point.config_hash = text_at(2, i);
    point.config_json = text_at(3, i);
    for (std::size_t c = fixed_columns().size(); c < columns.size(); ++c) {
      const auto* numbers = std::get_if<std::vector<double>>(&columns[c]);
      point.at.push_back(numbers ? fmt::format("{}", (*numbers)[i]) : text_at(c, i));
    }
  }
}

}  // namespace sonde
