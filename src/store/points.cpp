// Points of runs that may stand in one file.
#include "store/points.hpp"

#include <algorithm>

namespace sonde {

std::uint64_t index_of(const std::vector<Point>& points, const std::string& config_hash) {
  const auto found = std::ranges::find(points, config_hash, &Point::config_hash);
  return static_cast<std::uint64_t>(found - points.begin());
}

bool can_join(const Provenance& one, const Provenance& other) {
  const bool known = !one.sweep_hash.empty() && one.sweep_hash == other.sweep_hash;
  return known || one.config_hash == other.config_hash;
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
