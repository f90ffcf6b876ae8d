// Chases through data: puts the lists into memory as chains, or into shared memory as scripts where
// that cannot be, and checks that every lane ended where its list says.
#include "base/error.hpp"
#include "device/cuda/chain.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/chase_memory.hpp"
#include "device/cuda/chase_place.hpp"
#include "device/cuda/players.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

/// Loads of a lane, in all.
std::uint64_t accesses_of(const ChaseProbe& probe) {
  return probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
}

void check_final_value(std::uint64_t found, std::uint64_t wanted, std::size_t lane) {
  if (found == wanted) return;
  throw DeviceError(fmt::format(
      "wrong data: lane {} ended at {:#x} instead of {:#x} (a load returned what nobody wrote, so "
      "its times mean nothing). Check the GPU's memory and ECC counters",
      lane, found, wanted));
}

void run_chase(Session& session, const ChaseProbe& probe, ChaseMemory& memory,
               ChaseLaunchPlan& plan, kernels::Order order) {
  plan.run([&] { memory.queue(); },
           [&](const kernels::ChaseLaunch& launch, const kernels::LaunchShape& shape) {
             return kernels::launch_chase(launch, to_chase_path(probe.path), order, shape,
                                          session.stream());
           });
}

Trace play_chains(Session& session, const ChaseProbe& probe, const ChainPlan& chains) {
  ChaseMemory memory(session, probe, kernels::Order::chain);
  ChaseLaunchPlan plan(session, work_of(probe));
  std::vector<kernels::WordWrite> words;
  words.reserve(chains.words.size() + 1);
  for (const ChainWord& word : chains.words) {
    words.push_back({word.offset_bytes, memory.place(word.next_offset_bytes)});
  }
  memory.add(std::move(words));
  plan.commit();
  memory.fill(plan);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.tasks()[lane].start = memory.place(chains.first_offsets_bytes[lane]);
  }
  run_chase(session, probe, memory, plan, kernels::Order::chain);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    check_final_value(plan.results()[lane].final_value,
                      memory.place(chains.final_offsets_bytes[lane]), lane);
  }
  return plan.trace();
}

Trace play_scripts(Session& session, const ChaseProbe& probe) {
  if (probe.amortised_accesses > 0) {
    throw DeviceError(fmt::format(
        "an amortised chase visits a sector more often than the {} words it has on the path {} "
        "(its loop would hold the reading of the order, too). Visit each sector less often, or "
        "time the accesses one by one",
        word_layout(probe.path).group_words, to_text(probe.path)));
  }
  const ScriptPlan scripts = plan_scripts(probe.lanes);
  ChaseMemory memory(session, probe, kernels::Order::script);
  LaneWork work = work_of(probe);
  work.script_capacity = longest_script(scripts);
  ChaseLaunchPlan plan(session, work);
  const auto slots = add_scripts(session, scripts);
  std::vector<kernels::WordWrite> words;
  for (const ChaseLane& lane : probe.lanes) {
    for (std::uint64_t offset_bytes : lane.offsets_bytes) words.push_back({offset_bytes, 0});
  }
  memory.add(std::move(words));
  plan.commit();
  memory.fill(plan);
  plan.launch().script_unit = script_unit(probe.path, scripts.unit_bytes);
  fill_scripts(session, scripts, slots, plan.tasks());
  for (kernels::ChaseTask& task : plan.tasks()) task.start = memory.place(0);
  run_chase(session, probe, memory, plan, kernels::Order::script);
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    check_final_value(plan.results()[lane].final_value, 0, lane);
  }
  return plan.trace();
}

}  // namespace

Trace play_chase(Session& session, const ChaseProbe& probe) {
  if (probe.path == LoadPath::instruction) return play_code(session, probe);
  if (const auto chains = plan_chains(probe.lanes, accesses_of(probe), word_layout(probe.path))) {
    return play_chains(session, probe, *chains);
  }
  return play_scripts(session, probe);
}

}  // namespace sonde::cuda
