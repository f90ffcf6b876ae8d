// Shapes of throughput measurements, the best of a surface, and a fit of Little's law. Pure; the
// jobs shared and global.throughput run the shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde {

/// As a number of blocks: one block for each tile of the data.
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

/// Points by decreasing throughput, at most `most`.
std::vector<SurfacePoint> rank_surface(std::vector<SurfacePoint> points,
                                       std::size_t most = SIZE_MAX);

/// Little's law: below saturation, throughput is bytes in flight / latency.
struct LittlesLaw {
  double latency_s = 0;
  double bytes_in_flight = 0;  // latency x best throughput: enough to saturate the memory
  double r2 = 0;               // of the line over the points used
  std::uint64_t points = 0;
};
/// Uses points with less than half of the best throughput. nullopt for fewer than three.
/// @throws Error unless there are equally many bytes in flight (byte) and throughputs (byte/s)
std::optional<LittlesLaw> fit_littles_law(std::span<const double> bytes_in_flight,
                                          std::span<const double> bytes_per_s);

}  // namespace sonde
