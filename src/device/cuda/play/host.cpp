// The link to the memory of the host: copies by the copy engines, and a chase through host memory
// that the GPU reads in place.
#include "base/failure_marks.hpp"
#include "base/random.hpp"
#include "device/cuda/lanes/chase_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"
#include "kernels/memory.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace sonde::cuda {
namespace {

/// The copies of one probe. Device memory holds the pattern to copy from, and room of the same size
/// to copy to. Host memory has one part or, for `both`, one for each direction: pinning more memory
/// takes longer than the copies.
class HostCopies {
 public:
  HostCopies(Session& session, const HostProbe& probe)
      : session_(session),
        probe_(probe),
        // Far below any link: 0.25 GB/s, for all copies and checks.
        limit_{std::chrono::seconds(1) +
               std::chrono::nanoseconds(4) *
                   (probe.bytes * static_cast<std::uint64_t>(probe.repeats + 6))},
        mismatches_(session.arrays().add_output<unsigned long long>(1)),
        pattern_(session.data(probe.place, 2 * probe.bytes)),
        room_(pattern_ + probe.bytes),
        incoming_(session.host_data(probe.place, (is_both() ? 2 : 1) * probe.bytes)),
        outgoing_(incoming_ + (is_both() ? probe.bytes : 0)) {}

  std::vector<double> run() {
    session_.run(limit_, [&] { prepare(); });
    for (int i = 0; i < 2 * probe_.repeats; ++i) events_.emplace_back();
    session_.run(limit_, [&] {
      for (std::size_t i = 0; i < events_.size(); i += 2) queue_timed(events_[i], events_[i + 1]);
      session_.look_at_busy_link();
    });
    std::vector<double> repeat_ns;
    for (std::size_t i = 0; i < events_.size(); i += 2) {
      repeat_ns.push_back(elapsed_ns(events_[i], events_[i + 1]));
    }
    check();
    return repeat_ns;
  }

 private:
  bool is_both() const { return probe_.kind == HostKind::both; }
  bool goes_to_device() const { return probe_.kind != HostKind::from_device; }
  bool comes_from_device() const { return probe_.kind != HostKind::to_device; }

  void copy(std::byte* to, const std::byte* from, cudaStream_t stream) const {
    SONDE_CUDA_CHECK(cudaMemcpyAsync(to, from, probe_.bytes, cudaMemcpyDefault, stream));
  }
  void clear_room() const {
    SONDE_CUDA_CHECK(cudaMemsetAsync(room_, 0, probe_.bytes, session_.stream()));
  }

  /// Puts the pattern where copies begin, and zeros where they end.
  void prepare() const {
    session_.arrays().clear(mismatches_);
    SONDE_CUDA_CHECK(kernels::fill_pattern(pattern_, probe_.bytes, session_.stream()));
    clear_room();
    if (goes_to_device()) copy(outgoing_, pattern_, session_.stream());
    if (comes_from_device()) copy(incoming_, room_, session_.stream());
  }

  void queue_timed(const Event& begin, const Event& end) const {
    const bool both = is_both();
    const cudaStream_t stream = session_.stream();
    SONDE_CUDA_CHECK(cudaEventRecord(begin.get(), stream));
    if (both) session_.let_second_stream_follow();
    if (goes_to_device()) copy(room_, outgoing_, stream);
    if (comes_from_device()) copy(incoming_, pattern_, both ? session_.second_stream() : stream);
    if (both) session_.follow_second_stream();
    SONDE_CUDA_CHECK(cudaEventRecord(end.get(), stream));
  }

  void queue_check() const {
    // Every 61st element of 16 B: no power of two, so that all parts of a line are checked.
    SONDE_CUDA_CHECK(
        kernels::count_mismatches(room_, probe_.bytes, 61, mismatches_.device, session_.stream()));
  }

  void check() const {
    session_.run(limit_, [&] {
      session_.arrays().clear(mismatches_);
      if (goes_to_device()) queue_check();
      if (!comes_from_device()) return;
      clear_room();
      copy(room_, incoming_, session_.stream());
      queue_check();
    });
    const auto wrong = mismatches_.host.front();
    if (wrong == 0) return;
    throw_device_error(
        "{} {} of the checked elements of copies between host and GPU are not what was "
        "sent (their times mean nothing). Check the memory of both, and the link",
        wrong_data_mark, wrong);
  }

  Session& session_;
  const HostProbe& probe_;
  TimeLimit limit_;
  Output<unsigned long long> mismatches_;
  std::byte* pattern_;
  std::byte* room_;
  std::byte* incoming_;
  std::byte* outgoing_;
  std::deque<Event> events_;  // begin and end of each copy
};

Trace play_copies(Session& session, const HostProbe& probe) {
  HostCopies copies(session, probe);
  Trace trace;
  trace.repeat_ns = copies.run();
  return trace;
}

/// Numbers of all lines, in an order drawn from the seed.
std::vector<std::uint64_t> draw_lines(const HostProbe& probe) {
  std::vector<std::uint64_t> lines(probe.bytes / host_step_bytes);
  std::iota(lines.begin(), lines.end(), 0);
  Random random(probe.seed);
  shuffle(lines, random);
  return lines;
}

Trace play_latency(Session& session, const HostProbe& probe) {
  // The last line is for the rehearsal of the timed loop, and holds its own address. With unified
  // addressing the GPU reads pinned memory at the host's address (CUDA programming guide).
  std::byte* memory = session.host_data(probe.place, probe.bytes + host_step_bytes);
  const auto place = [&](std::uint64_t line) {
    return reinterpret_cast<std::uint64_t>(memory + line * host_step_bytes);
  };
  const auto link = [&](std::uint64_t line, std::uint64_t next) {
    *reinterpret_cast<std::uint64_t*>(memory + line * host_step_bytes) = place(next);
  };
  const std::vector<std::uint64_t> lines = draw_lines(probe);
  for (std::size_t i = 0; i < lines.size(); ++i) link(lines[i], lines[(i + 1) % lines.size()]);
  link(lines.size(), lines.size());

  ChaseProbe chase;
  chase.lanes.push_back({.sm = probe.sm, .offsets_bytes = {}});
  chase.timed_accesses = chase.recorded_accesses = probe.accesses;
  ChaseLaunchPlan plan(session, chase);
  plan.tasks()[0].start = place(lines.front());
  plan.launch().rehearsal_place = place(lines.size());
  const auto kernel =
      kernels::find_chase(kernels::ChasePath::cv, kernels::Order::chain, kernels::Part::windows);
  Trace trace =
      plan.run([&](const LaunchShape& shape) { session.launch(kernel, plan.launch(), shape); });
  plan.lanes().check_final_value(0, place(lines[probe.accesses % lines.size()]));
  return trace;
}

}  // namespace

Trace play(Session& session, const HostProbe& probe) {
  return probe.kind == HostKind::latency ? play_latency(session, probe)
                                         : play_copies(session, probe);
}

}  // namespace sonde::cuda
