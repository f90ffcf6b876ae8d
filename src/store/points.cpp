// Points as a table with a column for each axis, and the rule for which points may share a file.
#include "store/points.hpp"

#include "base/units.hpp"
#include "store/hdf5/owned_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace sonde {
namespace {

const TableKey key{"points", "point"};

struct PointRow {
  Point point;
  std::vector<double> numbers;  // one for each axis; unused if the axis has texts
};

const TableKey shared_key{"shared_jobs", "shared_job"};

/// A job that a point takes from an earlier point; config hashes name the two points.
struct SharedRow {
  std::string config_hash;
  SharedJob shared;
};

BoundTable<SharedRow> shared_table() {
  BoundTable<SharedRow> table(shared_key);
  table.add("config_hash", "", "of the point that did not measure the job", &SharedRow::config_hash)
      .add("job", "", "its name", at(&SharedRow::shared, &SharedJob::job))
      .add("measured_at", "", "config_hash of the point whose results count for it",
           at(&SharedRow::shared, &SharedJob::config_hash));
  return table;
}

/// The value on an axis; makes room for it if the row is being read.
template <class Values>
auto& on_axis(Values& values, std::size_t axis) {
  if constexpr (!std::is_const_v<Values>) values.resize(std::max(values.size(), axis + 1));
  return values.at(axis);
}

BoundTable<PointRow> point_table(const std::vector<Axis>& axes) {
  const auto point = [](auto member) { return at(&PointRow::point, member); };
  BoundTable<PointRow> table(key);
  table.add("seed", "1", "seed of its random choices", point(&Point::seed))
      .add("repeat_index", "1", "how many times the same was measured before",
           point(&Point::repeat_index))
      .add("config_hash", "", "hash of the options that decide its results",
           point(&Point::config_hash))
      .add("config_json", "", "all options, resolved", point(&Point::config_json));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::string name = axes[i].option;
    std::ranges::replace(name, '-', '_');
    const bool clashes =
        name == key.dimension || std::ranges::count(table.empty().columns, name, &Column::name) > 0;
    if (name.empty() || clashes || name.find('/') != std::string::npos) {
      throw StoreError(fmt::format("'{}' cannot name an axis of a sweep", axes[i].option));
    }
    const std::string what = "value of the option " + axes[i].option;
    if (axes[i].is_number) {
      table.add(
          name, axes[i].unit, what, [i](auto& row) -> auto& { return on_axis(row.numbers, i); });
    } else {
      table.add(
          name, "", what, [i](auto& row) -> auto& { return on_axis(row.point.at, i); });
    }
  }
  return table;
}

/// True for a run of one point without axes: its provenance already has all options.
bool is_plain(const Provenance& provenance) {
  return provenance.points.empty() || (provenance.points.size() == 1 && provenance.axes.empty() &&
                                       provenance.points.front().repeat_index == 0);
}

}  // namespace

std::vector<Table> point_tables(const Provenance& provenance, Names& names) {
  if (is_plain(provenance)) return {};
  std::vector<PointRow> rows;
  for (const Point& point : provenance.points) {
    PointRow& row = rows.emplace_back(PointRow{point, {}});
    for (const std::string& value : point.at) {
      row.numbers.push_back(
          parse_quantity(value).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  std::vector<SharedRow> shared_rows;
  for (const Point& point : provenance.points) {
    for (const SharedJob& shared : point.shared) shared_rows.push_back({point.config_hash, shared});
  }
  return {point_table(provenance.axes).to_table(rows, names),
          shared_table().to_table(shared_rows, names)};
}

void read_points(const StoredTables& root, Provenance& provenance) {
  const std::vector<Axis>& axes = provenance.axes;
  for (PointRow& row : read_whole(root, point_table(axes))) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].is_number) on_axis(row.point.at, i) = fmt::format("{}", row.numbers[i]);
    }
    provenance.points.push_back(std::move(row.point));
  }
  for (SharedRow& row : read_whole(root, shared_table())) {
    const std::uint64_t point = index_of(provenance.points, row.config_hash);
    if (point == provenance.points.size())
      throw StoreError("/shared_jobs: a row names no point of the file");
    provenance.points[point].shared.push_back(std::move(row.shared));
  }
  if (provenance.points.empty()) provenance.points = points_of(provenance);
}

std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash) {
  const auto found = std::ranges::find(points, config_hash, &Point::config_hash);
  return static_cast<std::uint64_t>(found - points.begin());
}

bool can_join(const Provenance& one, const Provenance& other) {
  return one.sweep_hash == other.sweep_hash;
}

void join_points(const Provenance& more, Provenance& all) {
  for (std::size_t i = 0; i < std::min(all.axes.size(), more.axes.size()); ++i) {
    all.axes[i].is_number = all.axes[i].is_number && more.axes[i].is_number;
  }
  for (const Point& point : points_of(more)) {
    if (!holds(all.points, point.config_hash)) all.points.push_back(point);
  }
}

}  // namespace sonde
