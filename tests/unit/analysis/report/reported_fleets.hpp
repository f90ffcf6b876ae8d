// Fleets for the tests of reports.
#pragma once

#include "analysis/fleet/verdict/reduce.hpp"

#include "support/exported.hpp"
#include "unit/analysis/fleet/fleet_maker.hpp"

#include <utility>
#include <vector>

namespace sonde {

/// Four devices, of which one is slow in memory, one has a slow SM, and one has a gap.
inline RunResult spoiled_fleet() {
  RunResult run = maker::healthy_fleet(4, 7);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);
  maker::scale_finding(run.devices[2], "global.write_bytes_per_s", 0.8);
  maker::slow_sm(run.devices[3], "placement.l1_latency_cycles", 17, 3);
  maker::finding_of(run.devices[0], "cache.l1.replacement") =
      not_resolvable("cache.l1.replacement", "3 policies fit, \"lru\" among them");
  return run;
}

struct Rendered {
  RunResult run;
  FleetAnalysis analysis;
};

inline Rendered rendered(RunResult run) {
  Rendered both{std::move(run), {}};
  both.analysis = reduce_fleet(both.run, maker::options());
  return both;
}

inline const Axis memory_percent{.option = "memory-percent", .unit = "1", .is_number = true};

/// Three devices at two settings of a sweep, the third of which is slow at both.
inline RunResult swept_fleet() {
  RunResult run = maker::healthy_fleet(3, 7);
  maker::scale_finding(run.devices[2], "global.read_bytes_per_s", 0.8);
  return maker::sweep_of(std::move(run), {memory_percent}, {{"50"}, {"100"}});
}

}  // namespace sonde
