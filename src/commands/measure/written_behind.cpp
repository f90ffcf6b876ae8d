// Long records are written in a thread of their own.
#include "commands/measure/written_behind.hpp"

namespace sonde {
namespace {

/// How much the file takes for the traces of a job, counted in windows of one access. The row of a
/// lane takes as much as ten.
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

/// Of a job with fewer rows than this the writing takes some hundredths of a second, and a crash of
/// the next job shall not cost it. A longer one is lost if the next job crashes before it is
/// written; another worker then measures it again.
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
