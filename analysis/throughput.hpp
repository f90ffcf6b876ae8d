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

/// What a shape on one SM must keep to.
struct SmLimits {
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  std::uint64_t shared_bytes_per_block = 0;
  std::uint64_t shared_bytes_per_sm = 0;
  std::uint64_t reserved_shared_bytes_per_block = 0;
};

/// Shapes of a copy inside shared memory that fit on an SM: each thread holds `ilp` elements
/// twice (source and target). CTA size {32..1024}, CTAs per SM {1..6}, ILP {1, 2, 4, 6, 8}.
std::vector<Shape> shared_copy_shapes(const SmLimits& limits, int element_bytes);

struct SurfacePoint {
  Shape shape;
  double throughput = 0;
};

/// Points by falling throughput.
std::vector<SurfacePoint> rank_surface(std::vector<SurfacePoint> points);

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
