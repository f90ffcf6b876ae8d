// The shared memory of the SMs of a simulated GPU: the section `shared` of a model file, read by
// units.hpp and played by play/shared.cpp.
#pragma once

#include "device/sim/model/json_fields.hpp"
#include "device/sim/model/limits.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::sim {

/// Latency of one warp's shared memory access by the number of passes over the banks that it
/// needs; straight lines between the points.
struct PassPoint {
  double passes = 0;
  double cycles = 0;

  static PassPoint read(Fields& fields) {
    return {.passes = fields.number("passes", {1, limits::entries}),
            .cycles = fields.number("cycles", {1, limits::cycles})};
  }
};

/// Atomic additions. A bank serves one thread after the other, be their words the same or not.
struct SharedAtomicModel {
  double latency_cycles = 0;   // of one, until its result can be added again
  double interval_cycles = 0;  // least between two whose results nobody uses
  double thread_cycles = 0;    // of a bank for each thread
  bool counts_up = false;      // additions of 1 by threads of one word are made at once

  static SharedAtomicModel read(Fields& fields) {
    return {.latency_cycles = fields.number("latency_cycles", {1, limits::cycles}),
            .interval_cycles = fields.number("interval_cycles", {0.1, limits::cycles}),
            .thread_cycles = fields.number("thread_cycles", {0, limits::cycles}),
            .counts_up = fields.flag_or("counts_up", false)};
  }
};

/// Words that were loaded last come sooner. No known GPU has such a thing (Wong 2010, section
/// IV-F).
struct SharedCacheModel {
  std::uint64_t size_bytes = 0;
  std::uint64_t line_bytes = 0;
  std::uint32_t miss_cycles = 0;  // beyond the latency of a hit

  static SharedCacheModel read(Fields& fields) {
    const SharedCacheModel model{.size_bytes = fields.bytes("size_bytes", limits::on_chip_bytes),
                                 .line_bytes = fields.bytes("line_bytes", limits::line_bytes),
                                 .miss_cycles = fields.count("miss_cycles", {1, limits::cycles})};
    if (model.line_bytes == 0 || model.size_bytes < model.line_bytes) {
      fields.fail("size_bytes", "must hold a line");
    }
    return model;
  }
};

struct SharedModel {
  std::uint32_t banks = 32;
  std::uint32_t bank_bytes = 4;
  bool modes = false;  // 8-byte banks, with a 4-byte mode as well (Kepler)
  std::vector<PassPoint> latency;
  double load_interval_cycles = 1;   // between passes of loads in the pipeline
  double store_interval_cycles = 1;  // the same for stores
  double sync_cycles = 0;            // a barrier and a clock read
  double jitter_cycles = 0;
  std::optional<SharedAtomicModel> atomics = {};  // none: nothing is known of them
  std::optional<SharedCacheModel> cache = {};     // none: as on every known GPU

  double latency_cycles(double passes) const {
    const auto above = std::find_if(latency.begin(), latency.end(),
                                    [&](const PassPoint& point) { return point.passes >= passes; });
    if (above == latency.begin()) return latency.front().cycles;
    if (above == latency.end()) return latency.back().cycles;
    const PassPoint& below = *(above - 1);
    const double share = (passes - below.passes) / (above->passes - below.passes);
    return below.cycles + share * (above->cycles - below.cycles);
  }

  static SharedModel read(Fields& fields) {
    const std::uint32_t bank_bytes = fields.count("bank_bytes", {1, limits::banks});
    if (bank_bytes != 4 && bank_bytes != 8) fields.fail("bank_bytes", "must be 4 or 8");
    return {.banks = fields.count("banks", {1, limits::banks}),
            .bank_bytes = bank_bytes,
            .modes = bank_bytes == 8,
            .latency = read_latency(fields),
            .load_interval_cycles = fields.number("load_interval_cycles", {0.1, limits::cycles}),
            .store_interval_cycles = fields.number("store_interval_cycles", {0.1, limits::cycles}),
            .sync_cycles = fields.number("sync_cycles", {0, limits::cycles}),
            .jitter_cycles = fields.number_or("jitter_cycles", {0, limits::cycles}, 0),
            .atomics = fields.object_or_none("atomics", SharedAtomicModel::read),
            .cache = fields.object_or_none("cache", SharedCacheModel::read)};
  }
  static std::vector<PassPoint> read_latency(Fields& fields) {
    const std::vector<PassPoint> points = fields.objects("latency_cycles", PassPoint::read);
    if (points.empty()) fields.fail("latency_cycles", "must hold a point");
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i].passes > points[i - 1].passes) continue;
      fields.fail("latency_cycles", "must ascend in passes");
    }
    return points;
  }
};

}  // namespace sonde::sim
