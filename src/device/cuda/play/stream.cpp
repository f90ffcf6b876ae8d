// Streams over global memory.
#include "kernels/stream/stream.hpp"
#include "base/error.hpp"
#include "base/failure_marks.hpp"
#include "device/cuda/lanes/block_spans.hpp"
#include "device/cuda/lanes/placed_launch.hpp"
#include "device/cuda/lanes/stream_code.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "device/layout/carveout.hpp"
#include "kernels/memory.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace sonde::cuda {
namespace {

/// Fills the data, and tells the kernel where they lie: a copy goes from one half to the other.
/// Data to read are the pattern; data to write are zeros (in a peer's buffer they are already).
void fill_data(Session& session, const StreamProbe& probe, kernels::StreamLaunch& launch) {
  const bool copies = probe.kind == StreamKind::copy;
  const std::uint64_t pass_bytes = copies ? probe.footprint_bytes / 2 : probe.footprint_bytes;
  std::byte* source = session.data(probe.place, probe.footprint_bytes, probe.peer_uuid);
  std::byte* destination = copies ? source + pass_bytes : source;
  if (probe.kind == StreamKind::read || copies) {
    SONDE_CUDA_CHECK(kernels::fill_pattern(source, pass_bytes, session.stream()));
  }
  if (probe.kind != StreamKind::read && !probe.peer_uuid) {
    SONDE_CUDA_CHECK(cudaMemsetAsync(destination, 0, pass_bytes, session.stream()));
  }
  launch.source = source;
  launch.destination = destination;
  launch.elements = pass_bytes / static_cast<std::uint64_t>(probe.element_bytes);
  launch.tiles = pass_bytes / stream_tile_bytes(probe);
  launch.tile_bytes = static_cast<std::uint32_t>(stream_tile_bytes(probe));
  launch.rest_begin =
      launch.tiles * (stream_tile_bytes(probe) / static_cast<std::uint64_t>(probe.element_bytes));
  const std::size_t ranks =
      probe.sms.empty() ? static_cast<std::size_t>(probe.blocks) : probe.sms.size();
  launch.workers = static_cast<std::uint32_t>(std::min<std::uint64_t>(ranks, launch.tiles));
  launch.passes = static_cast<std::uint32_t>(probe.passes);
  launch.order = as_kernel<kernels::StreamOrder>(probe.order);
}

/// One of so many tiles is timed. The step and the blocks have no common divisor, so that it is not
/// always a tile of the same blocks.
std::uint64_t window_step(const StreamProbe& probe, std::uint64_t tiles) {
  const auto wanted = static_cast<std::uint64_t>(probe.timed_tiles);
  std::uint64_t step = std::max<std::uint64_t>((tiles + wanted - 1) / wanted, 1);
  while (std::gcd(step, static_cast<std::uint64_t>(probe.blocks)) != 1) ++step;
  return step;
}

/// At 100 MB/s for each block at work, far below any memory; from a peer at 1 GB/s in all, as a
/// PCIe link of one lane has.
TimeLimit stream_limit(const StreamProbe& probe) {
  const double most_blocks = probe.peer_uuid ? 10 : 100;
  const double seconds = stream_bytes(probe) / (1e8 * std::min<double>(probe.blocks, most_blocks));
  return {std::chrono::milliseconds(2000 + static_cast<std::int64_t>(seconds * 1e3))};
}

/// On chosen SMs one block takes all of the smallest carve-out. Tiles of the copy engine lie in
/// shared memory. Else there is room for the reserved parts of as many blocks as threads allow.
layout::SharedPlan plan_for(const DeviceInfo& info, const StreamProbe& probe) {
  if (!probe.sms.empty()) return layout::plan_shared(info, 0);
  if (probe.engine == StreamEngine::bulk) {
    const int blocks_per_sm = (probe.blocks + info.sm_count - 1) / info.sm_count;
    return layout::plan_shared(info, kernels::stream_bulk_bytes(stream_tile_bytes(probe)),
                               std::nullopt, static_cast<std::uint64_t>(blocks_per_sm));
  }
  const auto resident = static_cast<std::uint64_t>(info.max_threads_per_sm / probe.block_threads);
  return layout::plan_shared(
      info, (std::max<std::uint64_t>(resident, 1) - 1) * info.reserved_shared_bytes_per_block);
}

/// The launches of one stream probe, and their results.
class StreamRun {
 public:
  StreamRun(Session& session, const StreamProbe& probe)
      : session_(session),
        probe_(probe),
        kernel_(choose_stream_kernel(session.info(), probe)),
        limit_(stream_limit(probe)),
        shared_(plan_for(session.info(), probe)),
        spans_(session),
        sink_(session.arrays().add_output<std::uint32_t>(1)),
        mismatches_(session.arrays().add_output<unsigned long long>(1)) {
    if (probe.timed_tiles > 0) {
      const std::uint64_t tiles = probe.footprint_bytes / stream_tile_bytes(probe);
      const std::uint64_t step = window_step(probe, tiles);
      launch_.window_step = static_cast<std::uint32_t>(step);
      windows_.emplace(
          session.arrays().add_output<kernels::StreamWindow>((tiles + step - 1) / step));
    }
    if (!probe.groups.empty()) groups_.emplace(session, probe);
    if (!probe.sms.empty()) placed_.emplace(session, rank_sms(probe.sms).sms, limit_);
    launch_.placement.limit_ns = limit_.kernel_ns();
    if (placed_) launch_.placement = placed_->placement();
    spans_.describe(launch_);
    launch_.sink = sink_.device;
    if (groups_) launch_.groups = groups_->describe();
    if (windows_) launch_.windows = windows_->device;
    fill_data(session, probe, launch_);
  }

  /// @return wall time by device events
  double run_once_ns() {
    const auto queue = [this](const LaunchShape& shape) { queue_kernel(shape); };
    const LaunchShape shape{
        .grid_blocks = static_cast<unsigned>(probe_.blocks),
        .block_threads = static_cast<unsigned>(probe_.block_threads),
        .shared_bytes = probe_.engine == StreamEngine::bulk || placed_ ? shared_.dynamic_bytes : 0,
        .carveout_percent = shared_.carveout_percent};
    if (placed_) {
      placed_->run(shape, queue);
    } else {
      session_.run(limit_, [&] { queue(shape); });
    }
    if (spans_.timed_out()) {
      throw_device_error(
          "a stream passed its deadline (memory or clock is far too slow). Look at the GPU's "
          "health");
    }
    return elapsed_ns(begin_, end_);
  }

  /// @throws DeviceError if the data that were written are wrong
  void check_data() {
    if (probe_.kind == StreamKind::read) return;
    if (groups_) return check_chunks();
    session_.run(limit_, [&] {
      session_.arrays().clear(mismatches_);
      if (probe_.kind == StreamKind::add) return count_wrong_sums();
      // Every 61st element of 16 B: no power of two, so that all parts of a line are checked.
      SONDE_CUDA_CHECK(kernels::count_mismatches(
          launch_.destination, launch_.elements * static_cast<std::uint64_t>(probe_.element_bytes),
          61, mismatches_.device, session_.stream()));
    });
    refuse_wrong(mismatches_.host.front());
  }

  Trace last_trace() const {
    Trace trace;
    trace.shared_carveout_bytes = shared_.carveout_bytes;
    if (placed_) trace.lanes = spans_.read();
    if (windows_) trace.lanes = read_windows();
    return trace;
  }

 private:
  void refuse_wrong(std::uint64_t wrong) const {
    if (wrong == 0) return;
    throw_device_error(
        "{} {} of the checked elements of a {} are not what was stored (its bandwidth "
        "means nothing). Check the GPU's memory and ECC counters",
        wrong_data_mark, wrong, to_text(probe_.kind));
  }

  /// Only chunks in the lists are written. Sums are compared as a whole, as a chunk may have one
  /// addition more than its neighbour.
  void check_chunks() {
    const std::uint64_t chunks = groups_->covered_chunks();
    std::uint64_t wanted = 0;
    session_.run(limit_, [&] {
      session_.arrays().clear(mismatches_);
      unsigned long long* found = mismatches_.device;
      if (probe_.kind == StreamKind::add) {
        wanted = static_cast<std::uint64_t>(stream_bytes(probe_)) / 4 * launches_;
        SONDE_CUDA_CHECK(
            kernels::sum_words(launch_.destination, launch_.elements, found, session_.stream()));
      } else {
        wanted = launch_.elements - chunks * (stream_chunk_bytes / 16);
        SONDE_CUDA_CHECK(kernels::count_mismatches(launch_.destination, launch_.elements * 16, 1,
                                                   found, session_.stream()));
      }
    });
    const std::uint64_t found = mismatches_.host.front();
    refuse_wrong(std::max(found, wanted) - std::min(found, wanted));
  }

  void count_wrong_sums() {
    const std::size_t blocks =
        probe_.sms.empty() ? static_cast<std::size_t>(probe_.blocks) : probe_.sms.size();
    const std::size_t adding_blocks = probe_.order == StreamOrder::same ? blocks : 1;
    const auto sum = static_cast<std::uint32_t>(probe_.passes) *
                     static_cast<std::uint32_t>(adding_blocks) * launches_;
    SONDE_CUDA_CHECK(kernels::count_other_words(launch_.destination, launch_.elements, sum,
                                                mismatches_.device, session_.stream()));
  }

  std::vector<LaneTrace> read_windows() const {
    std::map<std::uint32_t, LaneTrace> lanes;
    for (const kernels::StreamWindow& window : windows_->host) {
      if (window.cycles == 0) continue;
      LaneTrace& lane = lanes[window.sm];
      lane.sm = static_cast<int>(window.sm);
      lane.window_cycles.push_back(window.cycles);
      ++lane.accesses;
      lane.elapsed_cycles += window.cycles;
    }
    std::vector<LaneTrace> list;
    for (auto& [sm, lane] : lanes) list.push_back(std::move(lane));
    return list;
  }

  void queue_kernel(const LaunchShape& shape) {
    ++launches_;
    spans_.clear();
    if (windows_) session_.arrays().clear(*windows_);
    if (groups_) groups_->clear();
    SONDE_CUDA_CHECK(cudaEventRecord(begin_.get(), session_.stream()));
    session_.launch(kernel_, launch_, shape);
    SONDE_CUDA_CHECK(cudaEventRecord(end_.get(), session_.stream()));
  }

  Session& session_;
  const StreamProbe& probe_;
  kernels::Kernel<kernels::StreamLaunch> kernel_;
  TimeLimit limit_;
  layout::SharedPlan shared_;
  BlockSpans spans_;
  Output<std::uint32_t> sink_;  // never written
  Output<unsigned long long> mismatches_;
  std::optional<PlacedLaunch> placed_;  // on chosen SMs
  std::optional<StreamGroups> groups_;
  std::optional<Output<kernels::StreamWindow>> windows_;  // of timed tiles
  kernels::StreamLaunch launch_;
  std::uint32_t launches_ = 0;
  Event begin_;
  Event end_;
};

}  // namespace

Trace play(Session& session, const StreamProbe& probe) {
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
