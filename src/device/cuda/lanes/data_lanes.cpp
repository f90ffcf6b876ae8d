// Lanes that load: puts the lists into memory as chains or, if that is not possible, into shared
// memory as scripts, and checks that every lane ended where its list says.
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/chase_memory.hpp"
#include "device/cuda/lanes/path_lanes.hpp"
#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <optional>
#include <utility>

namespace sonde::cuda {
namespace {

/// Accesses of a warm-up that one thread makes, if the threads of a warp take turns.
std::uint64_t share_of(std::uint64_t accesses, std::uint64_t thread) {
  return (accesses + warp_threads - 1 - thread) / warp_threads;
}

/// True if the warm-up is divided among the threads of a warp.
bool is_shared_out(const ChaseProbe& probe) {
  return probe.warm_up == WarmUp::overlapped && probe.warmup_accesses >= warp_threads &&
         probe.lanes.size() == 1 && probe.lanes.front().offsets_bytes.size() >= warp_threads;
}

kernels::Kernel<kernels::ChaseLaunch> kernel_of(const ChaseProbe& probe, kernels::Order order,
                                                kernels::Part part) {
  return kernels::find_chase(as_kernel<kernels::ChasePath>(probe.lanes.front().path), order, part);
}

/// The warm-up of a probe's only lane, in a kernel of its own: each thread of a warp makes a share
/// of the accesses.
template <class Chains>
class SharedWarmUp {
 public:
  /// Takes the whole warm-up away from the lane, which begins after it.
  /// @param chains the lane's chain, then the chains of its shares
  /// @param plan of the lane, otherwise complete
  SharedWarmUp(Session& session, const ChaseProbe& probe, const Chains& chains,
               const ChaseMemory& memory, ChaseLaunchPlan& plan)
      : session_(session),
        probe_(probe),
        chains_(chains),
        state_(session.arrays().add_output<kernels::PlacementState>(1)),
        results_(session.arrays().add_output<kernels::LaneResult>(warp_threads)) {
    const auto shares = session.arrays().add_input<kernels::WarmUpShare>(warp_threads);
    for (std::size_t thread = 0; thread < warp_threads; ++thread) {
      shares.host[thread] = {.start = memory.place(chains.offset_bytes(1 + thread, 0)),
                             .accesses = accesses_of(thread)};
    }
    plan.tasks()[0].start = memory.place(chains.offset_bytes(0, probe.warmup_accesses));
    plan.launch().warmup = 0;
    launch_ = plan.launch();
    launch_.shares = shares.device;
    launch_.placement.state = state_.device;
    launch_.results = results_.device;
  }

  void queue(LaunchShape shape) const {
    session_.arrays().clear(state_);
    session_.arrays().clear(results_);
    shape.block_threads = warp_threads;
    session_.launch(kernel_of(probe_, kernels::Order::chain, kernels::Part::shared_warm_up),
                    launch_, shape);
  }

  /// @throws DeviceError if a thread did not run to its end, or did not end where its share does
  void check(const ChaseMemory& memory) const {
    for (std::size_t thread = 0; thread < warp_threads; ++thread) {
      check_lane(results_.host[thread], probe_.lanes.front().sm);
      check_value(results_.host[thread],
                  memory.place(chains_.offset_bytes(1 + thread, accesses_of(thread))), thread);
    }
  }

 private:
  std::uint64_t accesses_of(std::uint64_t thread) const {
    const std::uint64_t length = probe_.lanes.front().offsets_bytes.size();
    const std::uint64_t rest = probe_.warmup_accesses % length;
    return probe_.warmup_accesses / length * share_of(length, thread) + share_of(rest, thread);
  }

  Session& session_;
  const ChaseProbe& probe_;
  const Chains& chains_;
  Output<kernels::PlacementState> state_;
  Output<kernels::LaneResult> results_;
  kernels::ChaseLaunch launch_;
};

void add_words(ChaseMemory& memory, const layout::ChainPlan& chains, ChaseLaunchPlan& plan) {
  std::vector<kernels::WordWrite> words;
  words.reserve(chains.words.size() + 1);
  for (const layout::ChainWord& word : chains.words) {
    words.push_back({word.offset_bytes, memory.place(word.next_offset_bytes)});
  }
  memory.add(std::move(words), plan);
}

void add_words(ChaseMemory& memory, const layout::ListPlan& list, ChaseLaunchPlan& plan) {
  memory.add(list, plan);
}

/// Lanes that load words from memory.
class DataLanes : public PathLanes {
 public:
  std::uint64_t place(std::uint64_t offset_bytes) const final {
    return memory_.place(offset_bytes);
  }

 protected:
  DataLanes(Session& session, const ChaseProbe& probe, kernels::Order order)
      : PathLanes(session, probe,
                  kernel_of(probe, order,
                            probe.timed_accesses > 0 ? kernels::Part::windows
                                                     : kernels::Part::amortised)),
        memory_(session, probe, order) {}

  ChaseMemory memory_;
};

enum class Shares { none, behind_the_lane };

/// Lanes of chains: each word holds the place of the next.
template <class Chains>
class ChainLanes final : public DataLanes {
 public:
  ChainLanes(Session& session, const ChaseProbe& probe, Chains chains, Shares shares)
      : DataLanes(session, probe, kernels::Order::chain), chains_(std::move(chains)) {
    add_words(memory_, chains_, plan_);
    for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
      plan_.tasks()[lane].start = memory_.place(chains_.offset_bytes(lane, 0));
    }
    if (shares == Shares::behind_the_lane) {
      warm_up_.emplace(session, probe, chains_, memory_, plan_);
    }
  }

  void queue_before(const LaunchShape& shape) override {
    memory_.queue();
    if (warm_up_) warm_up_->queue(shape);
  }

  void check() const override {
    if (warm_up_) warm_up_->check(memory_);
    for (std::size_t lane = 0; lane < probe_.lanes.size(); ++lane) {
      const std::uint64_t end_bytes = chains_.offset_bytes(lane, accesses_of(probe_));
      plan_.lanes().check_final_value(lane, memory_.place(end_bytes));
    }
  }

 private:
  Chains chains_;
  std::optional<SharedWarmUp<Chains>> warm_up_;
};

/// Lanes of scripts: the order lies in shared memory, and each word is zero.
class ScriptLanes final : public DataLanes {
 public:
  ScriptLanes(Session& session, const ChaseProbe& probe)
      : DataLanes(session, probe, kernels::Order::script) {
    std::vector<kernels::WordWrite> words;
    for (const ChaseLane& lane : probe.lanes) {
      for (std::uint64_t offset_bytes : lane.offsets_bytes) words.push_back({offset_bytes, 0});
    }
    memory_.add(std::move(words), plan_);
    plan_.add_scripts(probe);
    for (kernels::ChaseTask& task : plan_.tasks()) task.start = memory_.place(0);
  }

  void queue_before(const LaunchShape&) override { memory_.queue(); }

  void check() const override {
    for (std::size_t lane = 0; lane < probe_.lanes.size(); ++lane) {
      plan_.lanes().check_final_value(lane, 0);
    }
  }
};

std::unique_ptr<PathLanes> make_script_lanes(Session& session, const ChaseProbe& probe) {
  const LoadPath path = probe.lanes.front().path;
  if (probe.amortised_accesses > 0) {
    throw_device_error(
        "an amortised chase reads a sector more often than the {} words it has on the path {} (its "
        "loop would also read the order of accesses). Read each sector less often, or time the "
        "accesses one by one",
        layout::word_layout(path).group_words, to_text(path));
  }
  return std::make_unique<ScriptLanes>(session, probe);
}

template <class Chains>
std::unique_ptr<PathLanes> make_chain_lanes(Session& session, const ChaseProbe& probe,
                                            Chains chains, Shares shares) {
  return std::make_unique<ChainLanes<Chains>>(session, probe, std::move(chains), shares);
}

}  // namespace

std::unique_ptr<PathLanes> make_data_lanes(Session& session, const ChaseProbe& probe) {
  const ChaseLane& lane = probe.lanes.front();
  const layout::WordLayout words = layout::word_layout(lane.path);
  const bool shared = is_shared_out(probe);
  if (probe.lanes.size() == 1 && lane.stored_offsets_bytes.empty() &&
      layout::has_addresses(lane.path)) {
    auto list = layout::plan_list(lane.offsets_bytes, shared ? warp_threads : 0, words);
    const Shares shares = shared ? Shares::behind_the_lane : Shares::none;
    if (list) return make_chain_lanes(session, probe, std::move(*list), shares);
  }
  if (shared) {
    // The shares have chains of their own, which need further words of each sector.
    auto chains = layout::plan_chains(layout::with_shares(probe.lanes, warp_threads), words);
    if (chains) {
      return make_chain_lanes(session, probe, std::move(*chains), Shares::behind_the_lane);
    }
  }
  auto chains = layout::plan_chains(probe.lanes, words);
  return chains ? make_chain_lanes(session, probe, std::move(*chains), Shares::none)
                : make_script_lanes(session, probe);
}

}  // namespace sonde::cuda
