// When the blocks of a stream ran on each SM, by its clock: laid out for the kernel, and read into
// a trace as one lane for each SM.
#pragma once

#include "base/error.hpp"
#include "device/cuda/session.hpp"
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

  /// Tells the kernel where blocks note their times; after all arrays were added.
  template <class Launch>
  void describe(Launch& launch) const {
    launch.spans = session_.arrays().device(spans_);
    launch.timed_out = session_.arrays().device(timed_out_);
  }

  /// Queues what must come before every launch.
  void clear() const {
    session_.arrays().clear(timed_out_);
    session_.arrays().clear(spans_);
    // The first member of every span is a minimum: all ones.
    SONDE_CUDA_CHECK(cudaMemset2DAsync(session_.arrays().device(spans_), sizeof(kernels::SmSpan),
                                       0xff, sizeof(kernels::SmSpan::first_cycles), spans_.count,
                                       session_.stream()));
  }

  /// After a launch: whether a block passed its deadline.
  bool timed_out() const { return session_.arrays().host(timed_out_).front() != 0; }

  /// After a launch: from the first start to the last end on each SM that had a block.
  std::vector<LaneTrace> read() const {
    std::vector<LaneTrace> lanes;
    const auto spans = session_.arrays().host(spans_);
    for (std::size_t sm = 0; sm < spans.size(); ++sm) {
      if (spans[sm].last_cycles == 0) continue;
      LaneTrace& lane = lanes.emplace_back();
      lane.sm = static_cast<int>(sm);
      lane.elapsed_cycles = spans[sm].last_cycles - spans[sm].first_cycles;
    }
    return lanes;
  }

 private:
  Session& session_;
  Output<kernels::SmSpan> spans_;
  Output<std::uint32_t> timed_out_;
};

}  // namespace sonde::cuda
