// A surface of throughput over CTA size x CTAs per SM x ILP, seen by active warps and ILP (Mei and
// Chu 2016, figures 15 and 16). Pure; jobs/shared.cpp measures the surface.
#pragma once

#include "analysis/throughput.hpp"

#include <span>
#include <vector>

namespace sonde {

/// Warps of an SM that has `shape.blocks` blocks; a block's last warp may have idle threads.
int active_warps(const Shape& shape, int warp_threads);

struct WarpPoint {
  int warps = 0;
  int ilp = 0;
  double throughput = 0;
};

/// For each number of warps and each ILP that there are the best of all shapes that have them, by
/// ascending warps, then ILP.
/// @param points whose shapes count blocks for each SM
std::vector<WarpPoint> best_by_warps(std::span<const SurfacePoint> points, int warp_threads);

}  // namespace sonde
