// Job `latency`: latencies of loads by the level that serves them. Method: docs/methods/latency.md.
#include "jobs/latency/parts.hpp"

namespace sonde {

void run_latency(JobRun& run) {
  report_level_latencies(run);
  report_patterns(run);
  report_staircase(run);
}

}  // namespace sonde
