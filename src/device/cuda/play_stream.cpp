// Streams over global memory.
#include "base/error.hpp"
#include "device/cuda/carveout.hpp"
#include "device/cuda/placed_launch.hpp"
#include "device/cuda/players.hpp"
#include "kernels/memory.hpp"
#include "kernels/stream.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

/// Where a stream's data lie, and how much of it one pass touches.
struct StreamData {
  std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::uint64_t pass_bytes = 0;  // read, written, or copied from one half to the other
};

kernels::StreamWork to_work(StreamKind kind) {
  switch (kind) {
    case StreamKind::read: return kernels::StreamWork::read;
    case StreamKind::write: return kernels::StreamWork::write;
    case StreamKind::copy: return kernels::StreamWork::copy;
  }
  throw Error("unknown stream kind");
}

kernels::Load to_load(LoadPath path) {
  switch (path) {
    case LoadPath::ca: return kernels::Load::ca;
    case LoadPath::cg: return kernels::Load::cg;
    case LoadPath::nc: return kernels::Load::nc;
    case LoadPath::cv: return kernels::Load::cv;
    case LoadPath::constant:
    case LoadPath::texture_1d:
    case LoadPath::texture_2d:
    case LoadPath::atomic:
    case LoadPath::instruction: break;
  }
  throw DeviceError(
      fmt::format("no stream goes through the path {} (streams are of plain loads). "
                  "Ask for ca, cg, nc or cv",
                  to_text(path)));
}

void check_stream(const Session& session, const StreamProbe& probe) {
  if (!kernels::stream_ilp_exists(probe.ilp)) {
    throw DeviceError(
        fmt::format("a stream with ilp {} is not compiled (1, 2, 4, 8 and 16 are). "
                    "Ask for one of these",
                    probe.ilp));
  }
  const int most = std::min(kernels::stream_max_threads(probe.element_bytes, probe.ilp),
                            session.info().max_threads_per_block);
  if (probe.block_threads > most) {
    throw DeviceError(
        fmt::format("a stream with ilp {} and {} B elements has at most {} threads in "
                    "a block (more would spill registers). Ask for fewer",
                    probe.ilp, probe.element_bytes, most));
  }
  if (probe.footprint_bytes % 64 != 0) {
    throw DeviceError("the footprint of a stream must be a multiple of 64 B");
  }
}

/// Source and destination halves are laid with the pattern; what a copy must write is wiped.
StreamData lay_data(Session& session, const StreamProbe& probe) {
  StreamData data;
  std::byte* base = session.data(probe.footprint_bytes);
  data.source = base;
  data.pass_bytes = probe.footprint_bytes;
  data.destination = base;
  if (probe.kind == StreamKind::copy) {
    data.pass_bytes /= 2;
    data.destination = base + data.pass_bytes;
  }
  if (probe.kind != StreamKind::write) {
    SONDE_CUDA_CHECK(kernels::fill_pattern(data.source, data.pass_bytes, session.stream()));
  }
  if (probe.kind != StreamKind::read) {
    SONDE_CUDA_CHECK(cudaMemsetAsync(data.destination, 0, data.pass_bytes, session.stream()));
  }
  return data;
}

/// 100 MB/s for each block that is at work, far below what any memory gives.
TimeLimit limit_of(const StreamProbe& probe) {
  const double seconds = stream_bytes(probe) / (1e8 * std::min(probe.blocks, 100));
  return {std::chrono::milliseconds(2000 + static_cast<std::int64_t>(seconds * 1e3))};
}

/// On chosen SMs one block takes all of the smallest cut; else the cut leaves room for as many
/// blocks as the threads allow, each with its reserved part.
SharedPlan cut_for(const DeviceInfo& info, const StreamProbe& probe) {
  if (!probe.sms.empty()) return plan_shared(info, 0);
  const auto resident = static_cast<std::uint64_t>(info.max_threads_per_sm / probe.block_threads);
  return plan_shared(
      info, (std::max<std::uint64_t>(resident, 1) - 1) * info.reserved_shared_bytes_per_block);
}

/// The launches of one stream probe and what they leave behind.
class StreamRun {
 public:
  StreamRun(Session& session, const StreamProbe& probe)
      : session_(clear_layouts(session)),
        probe_(probe),
        limit_(limit_of(probe)),
        shared_(cut_for(session.info(), probe)),
        placed_(session, rank_sms(probe.sms).sms, limit_),
        spans_(session.outputs.add<kernels::SmSpan>(kernels::max_sms)),
        flags_(session.outputs.add<std::uint32_t>(2)),
        mismatches_(session.outputs.add<unsigned long long>(1)) {
    session.inputs.commit();
    session.outputs.commit();
    data_ = lay_data(session, probe);
    launch_.placement = placed_.placement();
    launch_.source = data_.source;
    launch_.destination = data_.destination;
    launch_.elements = data_.pass_bytes / static_cast<std::uint64_t>(probe.element_bytes);
    launch_.passes = static_cast<std::uint32_t>(probe.passes);
    launch_.spans = session.outputs.device(spans_);
    launch_.sink = session.outputs.device(flags_);
    launch_.timed_out = session.outputs.device(flags_) + 1;
  }

  /// @return wall time by device events
  double run_once_ns() {
    const auto clear = [this] { clear_outputs(); };
    const auto queue = [this](const kernels::LaunchShape& shape) { return queue_kernel(shape); };
    const auto threads = static_cast<unsigned>(probe_.block_threads);
    kernels::LaunchShape shape{static_cast<unsigned>(probe_.blocks), threads, 0,
                               shared_.carveout_percent};
    if (probe_.sms.empty()) {
      clear();
      SONDE_CUDA_CHECK(queue(shape));
      session_.outputs.download(session_.stream());
      session_.wait(limit_.host());
    } else {
      shape.shared_bytes = shared_.dynamic_bytes;
      placed_.run(shape, clear, queue);
    }
    if (session_.outputs.host(flags_)[1] != 0) {
      throw DeviceError(
          "a stream passed its deadline (memory or clock is far too slow). Look at "
          "the GPU's health");
    }
    float elapsed_ms = 0;
    SONDE_CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, begin_.get(), end_.get()));
    return static_cast<double>(elapsed_ms) * 1e6;
  }

  /// @throws DeviceError if what was written is not what had to be
  void check_data() {
    if (probe_.kind == StreamKind::read) return;
    session_.outputs.fill_device(mismatches_, 0, session_.stream());
    // Every 61st element of 16 B: no power of two, so that all parts of a line have their turn.
    SONDE_CUDA_CHECK(kernels::count_mismatches(data_.destination, data_.pass_bytes, 0, 61,
                                               session_.outputs.device(mismatches_),
                                               session_.stream()));
    session_.outputs.download(session_.stream());
    session_.wait(limit_.host());
    const auto wrong = session_.outputs.host(mismatches_).front();
    if (wrong == 0) return;
    throw DeviceError(
        fmt::format("wrong data: {} of the checked elements of a {} are not what was stored (its "
                    "bandwidth means "
                    "nothing). Check the GPU's memory and ECC counters",
                    wrong, to_text(probe_.kind)));
  }

  Trace last_trace() const {
    Trace trace;
    trace.shared_carveout_bytes = shared_.carveout_bytes;
    const auto spans = session_.outputs.host(spans_);
    for (std::size_t sm = 0; sm < spans.size(); ++sm) {
      if (spans[sm].last_cycles == 0) continue;
      LaneTrace lane;
      lane.sm = static_cast<int>(sm);
      lane.elapsed_cycles = spans[sm].last_cycles - spans[sm].first_cycles;
      trace.lanes.push_back(std::move(lane));
    }
    return trace;
  }

 private:
  static Session& clear_layouts(Session& session) {
    session.inputs.clear_layout();
    session.outputs.clear_layout();
    return session;
  }
  void clear_outputs() {
    const cudaStream_t stream = session_.stream();
    session_.outputs.fill_device(flags_, 0, stream);
    session_.outputs.fill_device(spans_, 0, stream);
    // The first member of every span is a minimum: all ones.
    SONDE_CUDA_CHECK(cudaMemset2DAsync(session_.outputs.device(spans_), sizeof(kernels::SmSpan),
                                       0xff, sizeof(kernels::SmSpan::first_cycles), spans_.count,
                                       stream));
  }
  cudaError_t queue_kernel(const kernels::LaunchShape& shape) {
    SONDE_CUDA_CHECK(cudaEventRecord(begin_.get(), session_.stream()));
    const cudaError_t error =
        kernels::launch_stream(launch_, to_work(probe_.kind), to_load(probe_.path),
                               probe_.element_bytes, probe_.ilp, shape, session_.stream());
    SONDE_CUDA_CHECK(cudaEventRecord(end_.get(), session_.stream()));
    return error;
  }

  Session& session_;
  const StreamProbe& probe_;
  TimeLimit limit_;
  SharedPlan shared_;
  PlacedLaunch placed_;
  Slot<kernels::SmSpan> spans_;
  Slot<std::uint32_t> flags_;  // a sink that is never written, and whether a deadline passed
  Slot<unsigned long long> mismatches_;
  StreamData data_;
  kernels::StreamLaunch launch_;
  Event begin_;
  Event end_;
};

}  // namespace

Trace play_stream(Session& session, const StreamProbe& probe) {
  check_stream(session, probe);
  StreamRun run(session, probe);
  run.run_once_ns();  // loads the kernel's code and warms the TLBs; not counted
  std::vector<double> repeat_ns;
  for (int i = 0; i < probe.repeats; ++i) repeat_ns.push_back(run.run_once_ns());
  Trace trace = run.last_trace();
  run.check_data();
  trace.repeat_ns = std::move(repeat_ns);
  return trace;
}

}  // namespace sonde::cuda
