// Streams over the shapes of a grid (Mei and Chu 2016, section 5.1): a surface, the best of it
// tried again, and the rate of the best at places drawn for it. The jobs global.throughput and
// l2.throughput are made of it.
#pragma once

#include "analysis/throughput.hpp"
#include "jobs/run/replicates.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// Which shapes of a surface are tried again, and at how many places.
struct Trial {
  std::size_t finalists = 0;
  std::size_t places = 0;
};

/// The best shape, and its rates at drawn places in memory.
struct Best {
  Shape shape;
  Replicates rates;
};

/// A stream with the widest loads, so that there is the fewest instructions for each byte.
StreamProbe make_stream(StreamKind kind, std::uint64_t footprint_bytes);

/// The probe in that shape.
StreamProbe with_shape(StreamProbe stream, const Shape& shape);

/// Rates of the repeats at the place of a draw, in bytes (of additions: in these) per second; none
/// if the device refuses the shape (too many registers, say).
std::vector<double> measure_at(JobRun& run, StreamProbe stream, const Shape& shape,
                               const Draw& draw, int repeats);

/// So many times the L2 that the driver names, 64 MiB at least and a quarter of the memory at most;
/// without an L2 or its size as if it had 4 MiB.
std::uint64_t span_beyond_l2(const DeviceInfo& gpu, std::uint64_t times);

enum class Surface { whole, upper };

/// From too few accesses in flight for the memory to many times enough: Little's law is fitted to
/// the low end, the best lies in the upper half. What the options block_threads, blocks_per_sm and
/// ilp of the job set does not vary. @throws SettingError if the device has no such shape
std::vector<Shape> choose_grid_shapes(const JobRun& run, Surface surface);

/// A block for each tile, none of which loops: accesses of all SMs stay close together in memory,
/// as they do in the kernels of most programs. None where one of those options is set.
std::vector<Shape> choose_tile_shapes(const JobRun& run);

/// Runs `stream` once with every shape, all at one place in memory: finalists are measured again.
/// Shapes that the device refuses are left out. @throws DeviceError if it refuses all of them
std::vector<SurfacePoint> measure_surface(JobRun& run, const StreamProbe& stream,
                                          const std::vector<Shape>& shapes);

/// Of the best shapes of a surface the one that is the fastest where they are tried again, all at
/// the same places.
Shape choose_shape(JobRun& run, const StreamProbe& stream, std::vector<SurfacePoint> points,
                   const Trial& trial);

/// A shape again, at drawn places in memory: its rate must not depend on the luck that chose it.
Best measure_best(JobRun& run, const StreamProbe& stream, const Shape& shape, int repeats,
                  const StoppingRule& rule);

/// Reports the centre of the rates. Its confidence falls with the spread of the repeats.
void report_rate(JobRun& run, const std::string& metric, const Best& best);

}  // namespace sonde
