// When the blocks of a stream ran on each SM, by its clock. The kernel notes the times, and read()
// makes one lane of them for each SM.
#pragma once

#include "base/error.hpp"
#include "device/cuda/session/session.hpp"
#include "kernels/placement.hpp"

namespace sonde::cuda {

class BlockSpans {
 public:
  /// Adds its arrays to those of the session.
  explicit BlockSpans(Session& session)
      : session_(session),
        spans_(session.arrays().add_output<kernels::SmSpan>(kernels::max_sms)),
        timed_out_(session.arrays().add_output<std::uint32_t>(1)) {
    require(session.info().sm_count <= kernels::max_sms, "more SMs than kernels::max_sms");
  }

  /// Tells the kernel where blocks note their times.
  template <class Launch>
  void describe(Launch& launch) const {
    launch.spans = spans_.device;
    launch.timed_out = timed_out_.device;
  }

  /// Queues the clearing of the arrays, before every launch.
  void clear() const {
    session_.arrays().clear(timed_out_);
    session_.arrays().clear(spans_);
    // The first member of every span is a minimum, so it starts with all bits set.
    SONDE_CUDA_CHECK(cudaMemset2DAsync(spans_.device, sizeof(kernels::SmSpan), 0xff,
                                       sizeof(kernels::SmSpan::first_cycles), spans_.host.size(),
                                       session_.stream()));
  }

  /// After a launch: true if a block passed its deadline.
  bool timed_out() const { return timed_out_.host.front() != 0; }

  /// After a launch: from the first start to the last end on each SM that had a block.
  std::vector<LaneTrace> read() const {
    std::vector<LaneTrace> lanes;
    for (std::size_t sm = 0; sm < spans_.host.size(); ++sm) {
      const kernels::SmSpan& span = spans_.host[sm];
      if (span.last_cycles == 0) continue;
      LaneTrace& lane = lanes.emplace_back();
      lane.sm = static_cast<int>(sm);
      lane.elapsed_cycles = span.last_cycles - span.first_cycles;
    }
    return lanes;
  }

 private:
  Session& session_;
  Output<kernels::SmSpan> spans_;
  Output<std::uint32_t> timed_out_;
};

}  // namespace sonde::cuda
