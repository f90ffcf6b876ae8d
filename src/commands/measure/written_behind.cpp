#include "commands/measure/written_behind.hpp"

namespace sonde {
namespace {

/// The size of a job's traces in the file, in timed accesses. The row of a lane counts as ten.
std::size_t count_rows(const JobResult& result) {
  constexpr std::size_t windows_of_a_lane = 10;
  std::size_t count = 0;
  for (const ProbeRecord& probe : result.probes) {
    for (const LaneTrace& lane : probe.trace.lanes) {
      count += windows_of_a_lane + lane.window_cycles.size();
    }
  }
  return count;
}

/// Writing a result with fewer rows takes some hundredths of a second, and is done at once, so that
/// a crash in the next job does not lose it. A longer result is lost if the next job crashes before
/// it is written; another worker then measures it again.
constexpr std::size_t long_record = 500'000;

}  // namespace

void WrittenBehind::append(JobResult result) {
  get();
  if (count_rows(result) < long_record) return shard_.append(result);
  writing_ =
      std::async(std::launch::async, [this, job = std::move(result)] { shard_.append(job); });
}

Shard& WrittenBehind::get() {
  if (writing_.valid()) writing_.get();
  return shard_;
}

}  // namespace sonde
