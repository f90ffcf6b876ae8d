// Sets the times of all SMs to what a minimum and a maximum begin with, and reads them afterwards.
#include "device/cuda/block_spans.hpp"

#include "base/error.hpp"
#include "kernels/placement.hpp"

namespace sonde::cuda {

BlockSpans::BlockSpans(Session& session)
    : session_(session),
      spans_(session.arrays().add_output<kernels::SmSpan>(kernels::max_sms)),
      timed_out_(session.arrays().add_output<std::uint32_t>(1)) {
  require(session.info().sm_count <= kernels::max_sms, "more SMs than kernels::max_sms");
}

void BlockSpans::clear() const {
  session_.arrays().clear(timed_out_);
  session_.arrays().clear(spans_);
  // The first member of every span is a minimum: all ones.
  SONDE_CUDA_CHECK(cudaMemset2DAsync(session_.arrays().device(spans_), sizeof(kernels::SmSpan),
                                     0xff, sizeof(kernels::SmSpan::first_cycles), spans_.count,
                                     session_.stream()));
}

std::vector<LaneTrace> BlockSpans::read() const {
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

}  // namespace sonde::cuda
