// Streams over the shapes of a grid (Mei and Chu 2016, section 5.1): measures a surface, tries its
// best shapes again, and measures the best one at random places. Used by the jobs global.throughput
// and l2.throughput.
#pragma once

#include "analysis/throughput.hpp"
#include "jobs/run/replicates.hpp"

#include <string>
#include <vector>

namespace sonde {

/// How many shapes of a surface are tried again, and at how many places.
struct Trial {
  std::size_t finalists = 0;
  std::size_t places = 0;
};

/// The best shape, and its rates at random places in memory.
struct Best {
  Shape shape;
  Replicates rates;
};

/// A stream with the widest loads, which needs the fewest instructions per byte.
StreamProbe make_stream(StreamKind kind, std::uint64_t footprint_bytes);

/// The stream in this shape.
StreamProbe with_shape(StreamProbe stream, const Shape& shape);

/// Rates of the repeats at the place of a draw, in bytes per second (additions per second for
/// additions); empty if the device refuses the shape, for example for too many registers.
std::vector<double> measure_at(JobRun& run, StreamProbe stream, const Shape& shape,
                               const Draw& draw, int repeats);

/// `times` the L2 that the driver reports (4 MiB if it reports none), but at least 64 MiB and at
/// most a quarter of the memory.
std::uint64_t span_beyond_l2(const DeviceInfo& gpu, std::uint64_t times);

enum class Surface { whole, upper };

/// Shapes from too few accesses in flight for the memory to many times enough. Little's law is
/// fitted to the low end; the best shape lies in the upper half. Options of the job (block_threads,
/// blocks_per_sm, ilp) fix their dimension. @throws NoAnswer if the device has no such shape
std::vector<Shape> choose_grid_shapes(const JobRun& run, Surface surface);

/// Runs `stream` once with every shape, at one place in memory. Leaves out shapes that the device
/// refuses. @throws DeviceError (NoAnswer if options fix the shape) if it refuses all of them
std::vector<SurfacePoint> measure_surface(JobRun& run, const StreamProbe& stream,
                                          const std::vector<Shape>& shapes);

/// Tries the best shapes of a surface again, all at the same places; returns the fastest.
Shape choose_shape(JobRun& run, const StreamProbe& stream, std::vector<SurfacePoint> points,
                   const Trial& trial);

/// Measures a shape at other random places, so that its rate is not that of a lucky choice.
Best measure_best(JobRun& run, const StreamProbe& stream, const Shape& shape, int repeats,
                  const StoppingRule& rule);

/// Reports the centre of the rates. The confidence falls with the spread of the repeats.
void report_rate(JobRun& run, const std::string& metric, const Best& best);

}  // namespace sonde
