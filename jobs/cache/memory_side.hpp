// Who serves loads that miss the L2, before the memory does: a cache on the side of the memory, or
// another partition of the L2. First the latencies of growing footprints, then what they are
// called.
#pragma once

#include "analysis/structure/latency/latency_classes.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Footprints of a survey, in half octaves.
struct SurveyedSpans {
  std::uint64_t from_bytes = 0;
  std::uint64_t to_bytes = 0;    // or beyond, until the memory answers half of the loads
  std::uint64_t step_bytes = 0;  // between loads: a line of the L2
  double memory_cycles = 0;      // how soon the memory answers
};

/// Steady chases through them: loads whose translation is at hand.
/// @throws DeviceError, DeviceLostError
std::vector<FootprintChase> survey_spans(JobRun& run, const ChaseSetup& setup,
                                         const std::string& label, const SurveyedSpans& spans);

/// What answers a good part of some footprint between two bounds.
struct Between {
  LatencyClass served;  // where it answers most
  double share = 0;     // of the loads of that footprint that are no hits

  /// No partition of two or more does: what has its home in the near one comes from the memory.
  bool serves_nearly_all() const { return share >= 0.8; }
  bool serves_half() const { return share >= 0.5; }
};

/// nullopt if nothing answers a fifth of any footprint later than the lower bound and sooner
/// than the upper one.
/// @param above_cycles no hit takes longer
std::optional<Between> find_between(const std::vector<FootprintChase>& chases, double above_cycles,
                                    double below_cycles);

}  // namespace sonde
