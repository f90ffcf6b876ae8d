// When the blocks of a stream ran on each SM, by its clock: laid out for the kernel, and read into
// a trace as one lane for each SM.
#pragma once

#include "device/cuda/session.hpp"
#include "kernels/stream.hpp"

namespace sonde::cuda {

class BlockSpans {
 public:
  /// Adds its arrays to those of the session.
  explicit BlockSpans(Session& session);

  /// Tells the kernel where blocks note their times; after all arrays were added.
  template <class Launch>
  void describe(Launch& launch) const {
    launch.spans = session_.arrays().device(spans_);
    launch.timed_out = session_.arrays().device(timed_out_);
  }

  /// Queues what must come before every launch.
  void clear() const;

  /// After a launch: whether a block passed its deadline.
  bool timed_out() const { return session_.arrays().host(timed_out_).front() != 0; }

  /// After a launch: from the first start to the last end on each SM that had a block.
  std::vector<LaneTrace> read() const;

 private:
  Session& session_;
  Output<kernels::SmSpan> spans_;
  Output<std::uint32_t> timed_out_;
};

}  // namespace sonde::cuda
