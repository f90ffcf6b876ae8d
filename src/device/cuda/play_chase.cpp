// Chases through data: puts the lists into memory as chains, or into shared memory as scripts where
// that cannot be, and checks that every lane ended where its list says.
#include "base/gpu_facts.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/chase_memory.hpp"
#include "device/cuda/co_runners.hpp"
#include "device/cuda/play.hpp"
#include "device/device_error.hpp"
#include "device/layout/place.hpp"

#include <algorithm>
#include <optional>

namespace sonde::cuda {
namespace {

/// Loads of a lane, in all.
std::uint64_t accesses_of(const ChaseProbe& probe) {
  return probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
}

/// Accesses of a warm-up that are the turn of a thread, if the threads of a warp take turns.
std::uint64_t share_of(std::uint64_t accesses, std::uint64_t thread) {
  return (accesses + warp_threads - 1 - thread) / warp_threads;
}

/// A warm-up is shared out to the threads of a warp if there is something for each.
bool is_shared_out(const ChaseProbe& probe) {
  return probe.warm_up == WarmUp::overlapped && probe.warmup_accesses >= warp_threads &&
         probe.lanes.size() == 1 && probe.lanes.front().offsets_bytes.size() >= warp_threads;
}

/// The warm-up of a probe's only lane by a warp, each thread through its share of the accesses, in
/// a kernel of its own. Construct it before the launch's plan.
template <class Chains>
class SharedWarmUp {
 public:
  /// @param chains the lane's, and behind it those of its shares
  SharedWarmUp(Session& session, const ChaseProbe& probe, const Chains& chains)
      : session_(session), probe_(probe), chains_(chains) {
    shares_ = session.arrays().add_input<kernels::WarmUpShare>(warp_threads);
    state_ = session.arrays().add_output<kernels::PlacementState>(1);
    results_ = session.arrays().add_output<kernels::LaneResult>(warp_threads);
  }

  /// Leaves nothing of the warm-up to the lane, which goes on behind it.
  void fill(const ChaseMemory& memory, ChaseLaunchPlan& plan) {
    const auto shares = session_.arrays().host(shares_);
    for (std::size_t thread = 0; thread < warp_threads; ++thread) {
      shares[thread] = {.start = memory.place(chains_.offset_bytes(1 + thread, 0)),
                        .accesses = accesses_of(thread)};
    }
    plan.tasks()[0].start = memory.place(chains_.offset_bytes(0, probe_.warmup_accesses));
    plan.launch().warmup = 0;
    launch_ = plan.launch();
    launch_.shares = session_.arrays().device(shares_);
    launch_.placement.state = session_.arrays().device(state_);
    launch_.results = session_.arrays().device(results_);
  }

  void queue(kernels::LaunchShape shape) const {
    session_.arrays().clear(state_);
    session_.arrays().clear(results_);
    shape.block_threads = warp_threads;
    SONDE_CUDA_CHECK(kernels::launch_warm_up(launch_, to_chase_path(probe_.lanes.front().path),
                                             shape, session_.stream()));
  }

  /// @throws DeviceError if a thread did not run to its end, or did not end where its share does
  void check(const ChaseMemory& memory) const {
    const auto results = session_.arrays().host(results_);
    for (std::size_t thread = 0; thread < warp_threads; ++thread) {
      check_lane(results[thread], probe_.lanes.front().sm);
      check_value(results[thread],
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
  Input<kernels::WarmUpShare> shares_;
  Output<kernels::PlacementState> state_;
  Output<kernels::LaneResult> results_;
  kernels::ChaseLaunch launch_;
};

void add_words(ChaseMemory& memory, const layout::ChainPlan& chains) {
  std::vector<kernels::WordWrite> words;
  words.reserve(chains.words.size() + 1);
  for (const layout::ChainWord& word : chains.words) {
    words.push_back({word.offset_bytes, memory.place(word.next_offset_bytes)});
  }
  memory.add(std::move(words));
}

void add_words(ChaseMemory& memory, const layout::ListPlan& list) { memory.add(list); }

void queue_chase(std::optional<CoRunners>& co_runners, const kernels::LaunchShape& shape,
                 const QueueLaunch& chase) {
  if (co_runners) return co_runners->run_beside(shape, chase);
  chase(shape);
}

enum class Shares { none, behind_the_lane };

template <class Chains>
Trace play_chains(Session& session, const ChaseProbe& probe, const Chains& chains, Shares shares) {
  ChaseMemory memory(session, probe, kernels::Order::chain);
  add_words(memory, chains);
  std::optional<SharedWarmUp<Chains>> warm_up;
  if (shares == Shares::behind_the_lane) warm_up.emplace(session, probe, chains);
  std::optional<CoRunners> co_runners;
  if (!probe.co_runners.empty()) co_runners.emplace(session, probe);
  ChaseLaunchPlan plan(session, probe);
  memory.fill(plan);
  if (co_runners) co_runners->fill(memory);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.tasks()[lane].start = memory.place(chains.offset_bytes(lane, 0));
  }
  if (warm_up) warm_up->fill(memory, plan);
  const Trace trace = plan.run([&](const kernels::LaunchShape& shape) {
    memory.queue();
    if (warm_up) warm_up->queue(shape);
    queue_chase(co_runners, shape, [&](const kernels::LaunchShape& launch_shape) {
      SONDE_CUDA_CHECK(kernels::launch_chase(plan.launch(), to_chase_path(probe.lanes.front().path),
                                             kernels::Order::chain, launch_shape,
                                             session.stream()));
    });
  });
  if (co_runners) co_runners->check();
  if (warm_up) warm_up->check(memory);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.lanes().check_final_value(lane,
                                   memory.place(chains.offset_bytes(lane, accesses_of(probe))));
  }
  return trace;
}

Trace play_scripts(Session& session, const ChaseProbe& probe) {
  const LoadPath path = probe.lanes.front().path;
  if (probe.amortised_accesses > 0) {
    throw_device_error(
        "an amortised chase reads a sector more often than the {} words it has on the path {} (its "
        "loop would hold the reading of the order, too). Read each sector less often, or time the "
        "accesses one by one",
        layout::word_layout(path).group_words, to_text(path));
  }
  const ScriptArrays scripts(session, probe.lanes);
  ChaseMemory memory(session, probe, kernels::Order::script);
  std::vector<kernels::WordWrite> words;
  for (const ChaseLane& lane : probe.lanes) {
    for (std::uint64_t offset_bytes : lane.offsets_bytes) words.push_back({offset_bytes, 0});
  }
  memory.add(std::move(words));
  std::optional<CoRunners> co_runners;
  if (!probe.co_runners.empty()) co_runners.emplace(session, probe);
  ChaseLaunchPlan plan(session, probe, scripts.capacity());
  memory.fill(plan);
  if (co_runners) co_runners->fill(memory);
  plan.launch().script_unit = layout::script_unit(path, scripts.unit_bytes());
  scripts.fill(plan.tasks());
  for (kernels::ChaseTask& task : plan.tasks()) task.start = memory.place(0);
  const Trace trace = plan.run([&](const kernels::LaunchShape& shape) {
    memory.queue();
    queue_chase(co_runners, shape, [&](const kernels::LaunchShape& launch_shape) {
      SONDE_CUDA_CHECK(kernels::launch_chase(plan.launch(), to_chase_path(path),
                                             kernels::Order::script, launch_shape,
                                             session.stream()));
    });
  });
  if (co_runners) co_runners->check();
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.lanes().check_final_value(lane, 0);
  }
  return trace;
}

}  // namespace

Trace play(Session& session, const ChaseProbe& probe) {
  const std::optional<LoadPath> path = common_path(probe);
  if (!path) {
    throw_device_error(
        "the lanes of a chase take different load paths (a kernel loads through one, and two "
        "kernels do not run side by side yet). Ask for lanes of one path");
  }
  if (*path == LoadPath::instruction) return play_code(session, probe);
  const layout::WordLayout words = layout::word_layout(*path);
  const bool shared = is_shared_out(probe);
  const ChaseLane& lane = probe.lanes.front();
  if (probe.lanes.size() == 1 && lane.stored_offsets_bytes.empty() &&
      layout::has_addresses(*path)) {
    const auto list = layout::plan_list(lane.offsets_bytes, shared ? warp_threads : 0, words);
    if (list) {
      return play_chains(session, probe, *list, shared ? Shares::behind_the_lane : Shares::none);
    }
  }
  if (shared) {
    // Chains of their own need further words of each sector.
    const auto chains = layout::plan_chains(layout::with_shares(probe.lanes, warp_threads), words);
    if (chains) return play_chains(session, probe, *chains, Shares::behind_the_lane);
  }
  const auto chains = layout::plan_chains(probe.lanes, words);
  return chains ? play_chains(session, probe, *chains, Shares::none) : play_scripts(session, probe);
}

}  // namespace sonde::cuda
