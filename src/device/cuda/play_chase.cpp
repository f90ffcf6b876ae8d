// Chases through data: puts the lists into memory as chains, or into shared memory as scripts where
// that cannot be, and checks that every lane ended where its list says.
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/chase_memory.hpp"
#include "device/cuda/play.hpp"
#include "device/device_error.hpp"
#include "device/layout/place.hpp"

namespace sonde::cuda {
namespace {

/// Loads of a lane, in all.
std::uint64_t accesses_of(const ChaseProbe& probe) {
  return probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
}

Trace run_chase(Session& session, ChaseMemory& memory, ChaseLaunchPlan& plan,
                kernels::ChasePath path, kernels::Order order) {
  return plan.run([&](const kernels::LaunchShape& shape) {
    memory.queue();
    SONDE_CUDA_CHECK(kernels::launch_chase(plan.launch(), path, order, shape, session.stream()));
  });
}

Trace play_chains(Session& session, const ChaseProbe& probe, const layout::ChainPlan& chains) {
  ChaseMemory memory(session, probe, kernels::Order::chain);
  std::vector<kernels::WordWrite> words;
  words.reserve(chains.words.size() + 1);
  for (const layout::ChainWord& word : chains.words) {
    words.push_back({word.offset_bytes, memory.place(word.next_offset_bytes)});
  }
  memory.add(std::move(words));
  ChaseLaunchPlan plan(session, probe);
  memory.fill(plan);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.tasks()[lane].start = memory.place(chains.first_offsets_bytes[lane]);
  }
  Trace trace = run_chase(session, memory, plan, to_chase_path(probe.path), kernels::Order::chain);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.lanes().check_final_value(lane, memory.place(chains.final_offsets_bytes[lane]));
  }
  return trace;
}

Trace play_scripts(Session& session, const ChaseProbe& probe) {
  if (probe.amortised_accesses > 0) {
    throw_device_error(
        "an amortised chase reads a sector more often than the {} words it has on the path {} (its "
        "loop would hold the reading of the order, too). Read each sector less often, or time the "
        "accesses one by one",
        layout::word_layout(probe.path).group_words, to_text(probe.path));
  }
  const ScriptArrays scripts(session, probe.lanes);
  ChaseMemory memory(session, probe, kernels::Order::script);
  std::vector<kernels::WordWrite> words;
  for (const ChaseLane& lane : probe.lanes) {
    for (std::uint64_t offset_bytes : lane.offsets_bytes) words.push_back({offset_bytes, 0});
  }
  memory.add(std::move(words));
  ChaseLaunchPlan plan(session, probe, scripts.capacity());
  memory.fill(plan);
  plan.launch().script_unit = layout::script_unit(probe.path, scripts.unit_bytes());
  scripts.fill(plan.tasks());
  for (kernels::ChaseTask& task : plan.tasks()) task.start = memory.place(0);
  Trace trace = run_chase(session, memory, plan, to_chase_path(probe.path), kernels::Order::script);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.lanes().check_final_value(lane, 0);
  }
  return trace;
}

}  // namespace

Trace play(Session& session, const ChaseProbe& probe) {
  if (probe.path == LoadPath::instruction) return play_code(session, probe);
  const auto chains =
      layout::plan_chains(probe.lanes, accesses_of(probe), layout::word_layout(probe.path));
  return chains ? play_chains(session, probe, *chains) : play_scripts(session, probe);
}

}  // namespace sonde::cuda
