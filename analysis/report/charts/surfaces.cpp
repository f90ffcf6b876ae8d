// Heat maps of throughput over the shapes of a grid: streams in global memory, copies in shared
// memory, and these by active warps (Mei and Chu 2016, figures 12, 15 and 16).
#include "analysis/fleet/value_text.hpp"
#include "analysis/report/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sonde {
namespace {

/// More rows, columns or panels than any real sweep: such a file is not drawn.
constexpr std::size_t most_categories = 64;
/// No SM holds more blocks at once (CUDA programming guide, compute capabilities: 32). Larger grids
/// run in several waves, such as grids with a block for each tile.
constexpr double most_resident_blocks = 64;

enum class Blocks { per_sm, of_grid };

/// Metrics of the axes and of the values, without their prefix.
struct SurfaceMetrics {
  const char* title;
  const char* prefix;
  const char* panels;  // "" without
  const char* rows;
  const char* columns;
  const char* values;
  const char* row_title;
  const char* column_title;
  const char* unit;
  Blocks blocks;
};

constexpr SurfaceMetrics surfaces[] = {
    {"Read from global memory", "global.surface_", "ilp", "block_threads", "blocks", "bytes_per_s",
     "CTA size", "CTAs per SM", "byte/s", Blocks::of_grid},
    {"Written to global memory", "global.write_surface_", "ilp", "block_threads", "blocks",
     "bytes_per_s", "CTA size", "CTAs per SM", "byte/s", Blocks::of_grid},
    {"Copied in global memory", "global.copy_surface_", "ilp", "block_threads", "blocks",
     "bytes_per_s", "CTA size", "CTAs per SM", "byte/s", Blocks::of_grid},
    {"Copied in shared memory", "shared.surface_", "ilp", "block_threads", "blocks_per_sm",
     "bytes_per_cycle", "CTA size", "CTAs per SM", "byte/cycle of an SM", Blocks::per_sm},
    {"Copied in shared memory, best CTAs", "shared.matrix_", "", "ilp", "warps", "bytes_per_cycle",
     "ILP", "active warps of an SM", "byte/cycle of an SM", Blocks::per_sm}};

struct Point {
  double panel = 0;
  double row = 0;
  double column = 0;  // infinity: more blocks than an SM holds
  auto operator<=>(const Point&) const = default;
};
using Surface = std::map<Point, double>;  // the best of all shapes at one point

/// Empty if the device lacks a list, or if the lists have different lengths.
Surface read_surface(const DeviceResult& device, const SurfaceMetrics& metrics) {
  const bool has_panels = metrics.panels[0] != '\0';
  std::array<const std::vector<double>*, 4> lists{};
  const char* names[] = {metrics.rows, metrics.columns, metrics.values,
                         has_panels ? metrics.panels : metrics.rows};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i] = vector_of(device, std::string(metrics.prefix) + names[i]);
    if (lists[i] == nullptr || lists[i]->size() != lists[0]->size()) return {};
  }
  const auto& [rows, columns, values, panels] = lists;
  const double sms = metrics.blocks == Blocks::of_grid ? std::max(1, device.info.sm_count) : 1;
  Surface surface;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Point point{has_panels ? (*panels)[i] : 0, (*rows)[i], (*columns)[i] / sms};
    const double value = (*values)[i];
    if (!std::isfinite(point.panel + point.row + point.column + value)) continue;
    if (metrics.blocks == Blocks::of_grid && point.column > most_resident_blocks) {
      point.column = std::numeric_limits<double>::infinity();
    }
    double& best = surface.try_emplace(point, value).first->second;
    best = std::max(best, value);
  }
  return surface;
}

std::string category(double number) {
  return std::isinf(number) ? fmt::format("> {:g}", most_resident_blocks)
                            : fmt::format("{:g}", number);
}

Json categories(const std::set<double>& numbers) {
  Json names = Json::array();
  for (double number : numbers) names.push_back(category(number));
  return names;
}

/// Empty if there are no points, or too many rows, columns or panels.
Json draw(const Surface& surface, const SurfaceMetrics& metrics, const std::string& label) {
  std::set<double> panels, rows, columns;
  Json cells = Json::array();
  for (const auto& [point, value] : surface) {
    panels.insert(point.panel);
    rows.insert(point.row);
    columns.insert(point.column);
    cells.push_back({{"panel", metrics.panels[0] == '\0' ? "" : "ILP " + category(point.panel)},
                     {"row", category(point.row)},
                     {"column", category(point.column)},
                     {"value", value}});
  }
  const std::size_t most = std::max({panels.size(), rows.size(), columns.size()});
  if (most == 0 || most > most_categories) return {};
  return heat_chart(fmt::format("{}: {}", metrics.title, label), metrics.unit,
                    {{"title", metrics.row_title}, {"values", categories(rows)}},
                    {{"title", metrics.column_title}, {"values", categories(columns)}},
                    std::move(cells));
}

}  // namespace

Json surface_charts(const DeviceResult& device, const std::string& label) {
  Json charts = Json::array();
  for (const SurfaceMetrics& metrics : surfaces) {
    Json chart = draw(read_surface(device, metrics), metrics, label);
    if (!chart.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace sonde
