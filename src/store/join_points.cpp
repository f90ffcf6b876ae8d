// Points of runs that may stand in one file.
#include "store/join_points.hpp"

#include <algorithm>

namespace sonde {

bool holds(const std::vector<Point>& points, const std::string& config_hash) {
  return std::ranges::find(points, config_hash, &Point::config_hash) != points.end();
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
