// Folds CTA size and CTAs per SM into active warps.
#include "analysis/warp_matrix.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace sonde {

int active_warps(const Shape& shape, int warp_threads) {
  return (shape.block_threads + warp_threads - 1) / warp_threads * shape.blocks;
}

std::vector<WarpPoint> best_by_warps(std::span<const SurfacePoint> points, int warp_threads) {
  std::map<std::pair<int, int>, double> best;
  for (const SurfacePoint& point : points) {
    const std::pair key{active_warps(point.shape, warp_threads), point.shape.ilp};
    double& throughput = best.try_emplace(key, point.throughput).first->second;
    throughput = std::max(throughput, point.throughput);
  }
  std::vector<WarpPoint> matrix;
  for (const auto& [key, throughput] : best) {
    matrix.push_back({.warps = key.first, .ilp = key.second, .throughput = throughput});
  }
  return matrix;
}

}  // namespace sonde
