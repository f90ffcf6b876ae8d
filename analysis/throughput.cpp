// Names and ranks shapes of a grid, and fits Little's law.
#include "analysis/throughput.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace sonde {

std::string to_text(const Shape& shape) {
  const std::string blocks = shape.blocks == blocks_by_tiles
                                 ? "a block for each tile"
                                 : fmt::format("{} blocks", shape.blocks);
  return fmt::format("{} threads x {} x ILP {}", shape.block_threads, blocks, shape.ilp);
}

std::vector<SurfacePoint> rank_surface(std::vector<SurfacePoint> points, std::size_t most) {
  std::ranges::stable_sort(points, std::greater<>(), &SurfacePoint::throughput);
  points.resize(std::min(points.size(), most));
  return points;
}

std::optional<LittlesLaw> fit_littles_law(std::span<const double> bytes_in_flight,
                                          std::span<const double> bytes_per_s) {
  require(bytes_in_flight.size() == bytes_per_s.size(),
          "fit_littles_law needs as many bytes in flight as throughputs");
  if (bytes_per_s.empty()) return std::nullopt;
  const double best = *std::ranges::max_element(bytes_per_s);
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < bytes_per_s.size(); ++i) {
    if (bytes_per_s[i] >= best / 2) continue;
    x.push_back(bytes_in_flight[i]);
    y.push_back(bytes_per_s[i]);
  }
  if (x.size() < 3) return std::nullopt;
  const double slope = std::inner_product(x.begin(), x.end(), y.begin(), 0.0) /
                       std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  double residual = 0;
  double variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    residual += (y[i] - slope * x[i]) * (y[i] - slope * x[i]);
    variance += (y[i] - mean) * (y[i] - mean);
  }
  return LittlesLaw{.latency_s = 1 / slope,
                    .bytes_in_flight = best / slope,
                    .r2 = variance > 0 ? 1 - residual / variance : 0,
                    .points = x.size()};
}

}  // namespace sonde
