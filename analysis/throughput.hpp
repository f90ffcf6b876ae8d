// Choosing and judging throughput measurements: shapes of a grid, the best of a surface, and what
// Little's law makes of it. Pure; the jobs shared and global.throughput run the shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// Instead of a number of blocks: one for each tile of the data, so that none has a second one.
inline constexpr int blocks_by_tiles = 0;

/// Shape of a grid: the axes of Mei and Chu 2016, sections 5.1 and 6.1.
struct Shape {
  int block_threads = 0;
  int blocks = 0;  // on each SM for shared memory, on the whole GPU for global memory
  int ilp = 0;

  bool operator==(const Shape&) const = default;
};

/// "256 threads x 2 blocks x ILP 8", "256 threads x a block for each tile x ILP 1"
std::string to_text(const Shape& shape);

struct SurfacePoint {
  Shape shape;
  double throughput = 0;
};

/// Points by falling throughput, so many at most.
std::vector<SurfacePoint> rank_surface(std::vector<SurfacePoint> points,
                                       std::size_t most = SIZE_MAX);

/// Throughput against bytes in flight below saturation is a line through the origin whose slope is
/// 1 / latency (Little's law).
struct LittlesLaw {
  double latency_s = 0;
  double bytes_in_flight = 0;  // latency x best throughput: what saturates the memory
  double r2 = 0;               // of the line through the origin, over the points used
  std::uint64_t points = 0;
};
/// Uses the points with less than half of the best throughput. nullopt if fewer than three.
/// @pre as many bytes in flight as throughputs, in byte and byte/s
std::optional<LittlesLaw> fit_littles_law(std::span<const double> bytes_in_flight,
                                          std::span<const double> bytes_per_s);

}  // namespace sonde
