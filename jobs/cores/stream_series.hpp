// What the best shape of a stream gives with other elements, with hints for the caches, and how
// long its loads take; and the same bytes by the copy engine. Parts of the job global.throughput.
#pragma once

#include "jobs/cores/stream_surface.hpp"

#include <span>
#include <string_view>

namespace sonde {

/// A stream and the shape in which it is fastest.
struct ShapedStream {
  StreamProbe stream;
  Shape shape;
  std::vector<Shape> others =
      {};  // nearly as fast: the best with a block for each tile, or without
};

/// Reports `global.element_bytes` and, for each of them, `global.<kind>_by_element_bytes_per_s`.
/// Elements that the device refuses have a rate of 0.
/// @param best of each kind, with elements of 16 bytes
void report_by_element(JobRun& run, std::span<const ShapedStream> best);

/// Reports `global.<kind>_<hint>_bytes_per_s` of every hint that a kind can carry, in the best of
/// the shapes: one that is best by a hair without a hint may lose 4 % with it.
void report_hints(JobRun& run, std::span<const ShapedStream> best);

/// Reports `global.bulk_read_bytes_per_s` and `global.bulk_copy_bytes_per_s`.
/// @param surface_bytes, best_bytes footprints for the choice of a shape and for its rate
void report_bulk(JobRun& run, std::uint64_t surface_bytes, std::uint64_t best_bytes);

/// Reports `global.light_latency_ns`, `global.loaded_latency_ns` and
/// `global.loaded_bytes_in_flight`: means over tiles whose loads were timed, with a warp on each SM
/// and with all threads of each SM.
/// @param reads with elements of 16 bytes
void report_latency_of_tiles(JobRun& run, const StreamProbe& reads);

}  // namespace sonde
