// The slices of one page, and lines of one slice out of many pages: some SMs of a GPC time atomics
// to all of their lines while SMs of others make reductions on one of them.
#pragma once

#include "analysis/structure/index/slice_labels.hpp"
#include "analysis/structure/sets/miss_oracle.hpp"
#include "base/random.hpp"
#include "jobs/chase/pointer_chase.hpp"

#include <string>
#include <vector>

namespace sonde {

/// SMs to make reductions, `of_each_gpc` of every GPC but the prober's: those of its own would hold
/// up all that goes through its port. Where GPCs are not known, as many as eight GPCs would give,
/// all over the SMs.
/// @param gpc_of_sm empty, or the GPC of each SM; -1: not known
std::vector<int> choose_co_runners(const std::vector<double>& gpc_of_sm, int sm_count, int prober,
                                   int of_each_gpc);

/// Latencies of atomics to lines of a buffer, with and without others that make reductions on one.
class PageChase {
 public:
  /// By the draw's SM and some others of its GPC, if that is known, to memory at the draw's place.
  PageChase(JobRun& run, const Draw& draw, std::uint64_t buffer_bytes, std::uint64_t line_bytes);

  void set_co_runner_sms(std::vector<int> sms) { sms_ = std::move(sms); }

  /// Of each line the least of some passes, in the order of `offsets`, lines of the buffer.
  /// @throws DeviceError, DeviceLostError
  std::vector<double> latencies_alone(const Lines& offsets);

  /// The same while the co-runners make reductions on the line at `own_bytes`.
  /// @throws DeviceError, DeviceLostError
  std::vector<double> contended_latencies(const Lines& offsets, std::uint64_t own_bytes,
                                          std::uint64_t passes = 2);

 private:
  std::vector<double> fastest(const Lines& offsets, std::uint64_t passes);

  JobRun& run_;
  ChaseSetup setup_;
  std::uint64_t line_bytes_;
  std::vector<int> probers_;
  Random random_;
  std::vector<int> sms_;  // of the co-runners
};

/// All lines of the page that begins there.
Lines lines_of_page(std::uint64_t page_bytes, std::uint64_t line_bytes);

/// What the labels of a page were measured with.
struct PageSlices {
  SliceLabels slices;
  int prober = 0;
  std::size_t co_runners = 0;
  int of_each_gpc = 0;  // co-runners, as choose_co_runners takes it
};

/// Labels every line of the page at a draw's place, by the draw's SM. With more co-runners where
/// few make no line wait.
/// @throws DeviceError, DeviceLostError
PageSlices label_page(JobRun& run, const Draw& draw, std::uint64_t line_bytes);

/// Lines of one slice and, of a divided L2, of one partition: the one near to the draw's SM.
struct SliceLines {
  Lines offsets;  // of the buffer; ascending
  std::uint64_t pages = 0;
  std::uint64_t buffer_bytes = 0;
  std::string reason;  // no lines: why not
};

/// Looks for lines of the slice of one line of the first page in `pages` others. A line belongs to
/// it if it waits while co-runners make reductions on that one, as often as it is asked.
/// @param co_runners SMs that make the reductions, as label_page found them to be enough
/// @throws DeviceError, DeviceLostError
SliceLines collect_slice_lines(JobRun& run, const Draw& draw, std::uint64_t line_bytes,
                               const std::vector<int>& co_runners, std::uint64_t pages);

}  // namespace sonde
