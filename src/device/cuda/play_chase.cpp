// Chases: puts the lists into memory as chains, or into shared memory as scripts where that cannot
// be, and checks that every lane ended where its list says.
#include "base/error.hpp"
#include "device/cuda/chain.hpp"
#include "device/cuda/chase_launch.hpp"
#include "device/cuda/players.hpp"
#include "kernels/memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::cuda {
namespace {

LaneWork work_of(const ChaseProbe& probe) {
  LaneWork work;
  for (const ChaseLane& lane : probe.lanes) work.lane_sms.push_back(lane.sm);
  work.warmup = probe.warmup_accesses;
  work.timed = probe.timed_accesses;
  work.recorded = probe.recorded_accesses;
  work.amortised = probe.amortised_accesses;
  work.concurrency = probe.concurrency;
  work.shared_carveout_bytes = probe.shared_carveout_bytes;
  return work;
}

/// Loads of a lane, in all.
std::uint64_t accesses_of(const ChaseProbe& probe) {
  return probe.warmup_accesses + probe.timed_accesses + probe.amortised_accesses;
}

/// Queues the words that the loads will find, and the flush if there is to be one.
void prepare_memory(Session& session, const ChaseProbe& probe, std::byte* data,
                    const kernels::WordWrite* writes, std::uint64_t count, std::uint64_t bias) {
  SONDE_CUDA_CHECK(kernels::scatter_words(data, writes, count, bias, session.stream()));
  if (probe.preparation == Preparation::flushed) session.flush_caches(probe.buffer_bytes);
}

void check_final_value(std::uint64_t found, std::uint64_t wanted, std::size_t lane) {
  if (found == wanted) return;
  throw DeviceError(fmt::format(
      "wrong data: lane {} ended at {:#x} instead of {:#x} (a load returned what nobody wrote, so "
      "its times mean nothing). Check the GPU's memory and ECC counters",
      lane, found, wanted));
}

Trace play_chains(Session& session, const ChaseProbe& probe, const ChainPlan& chains) {
  ChaseLaunchPlan plan(session, work_of(probe));
  const auto rehearsal = session.inputs.add<std::uint64_t>(1);
  const auto writes = session.inputs.add<kernels::WordWrite>(chains.words.size());
  plan.commit();
  std::byte* data = session.data(probe.buffer_bytes);
  const auto base = reinterpret_cast<std::uint64_t>(data);
  plan.launch().rehearsal_address =
      reinterpret_cast<std::uint64_t>(session.inputs.device(rehearsal));
  session.inputs.host(rehearsal).front() = plan.launch().rehearsal_address;
  std::ranges::transform(chains.words, session.inputs.host(writes).begin(),
                         [](const ChainWord& word) {
                           return kernels::WordWrite{word.offset_bytes, word.next_offset_bytes};
                         });
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    plan.tasks()[lane].start_address = base + chains.first_offsets_bytes[lane];
  }
  plan.run(
      [&] {
        prepare_memory(session, probe, data, session.inputs.device(writes), writes.count, base);
      },
      [&](const kernels::ChaseLaunch& launch, const kernels::LaunchShape& shape) {
        return kernels::launch_chase(launch, to_load(probe.path), kernels::Order::chain, shape,
                                     session.stream());
      });
  for (std::size_t lane = 0; lane < probe.lanes.size(); ++lane) {
    check_final_value(plan.results()[lane].final_value, base + chains.final_offsets_bytes[lane],
                      lane);
  }
  return plan.trace();
}

std::uint32_t longest(const std::vector<std::vector<std::uint32_t>>& scripts) {
  std::size_t length = 0;
  for (const auto& script : scripts) length = std::max(length, script.size());
  return static_cast<std::uint32_t>(length);
}

Trace play_scripts(Session& session, const ChaseProbe& probe) {
  if (probe.amortised_accesses > 0) {
    throw DeviceError(
        "an amortised chase visits a sector more than four times (its loop would hold the reading "
        "of "
        "the order, too). Visit each sector at most four times, or time the accesses one by one");
  }
  const ScriptPlan scripts = plan_scripts(probe.lanes);
  LaneWork work = work_of(probe);
  work.script_capacity = longest(scripts.scripts);
  ChaseLaunchPlan plan(session, work);
  const auto rehearsal = session.inputs.add<std::uint64_t>(1);
  std::vector<Slot<std::uint32_t>> slots;
  std::uint64_t visits = 0;
  for (const auto& script : scripts.scripts) {
    slots.push_back(session.inputs.add<std::uint32_t>(script.size()));
    visits += script.size();
  }
  const auto writes = session.inputs.add<kernels::WordWrite>(visits);
  plan.commit();
  std::byte* data = session.data(probe.buffer_bytes);
  session.inputs.host(rehearsal).front() = 0;
  plan.launch().rehearsal_address =
      reinterpret_cast<std::uint64_t>(session.inputs.device(rehearsal));
  plan.launch().unit_bytes = scripts.unit_bytes;
  auto write = session.inputs.host(writes).begin();
  for (std::size_t lane = 0; lane < slots.size(); ++lane) {
    kernels::ChaseTask& task = plan.tasks()[lane];
    task.start_address = reinterpret_cast<std::uint64_t>(data);
    task.script = session.inputs.device(slots[lane]);
    task.script_length = static_cast<std::uint32_t>(slots[lane].count);
    std::ranges::copy(scripts.scripts[lane], session.inputs.host(slots[lane]).begin());
    for (std::uint64_t offset : probe.lanes[lane].offsets_bytes) *write++ = {offset, 0};
  }
  plan.run([&] { prepare_memory(session, probe, data, session.inputs.device(writes), visits, 0); },
           [&](const kernels::ChaseLaunch& launch, const kernels::LaunchShape& shape) {
             return kernels::launch_chase(launch, to_load(probe.path), kernels::Order::script,
                                          shape, session.stream());
           });
  for (std::size_t lane = 0; lane < slots.size(); ++lane) {
    check_final_value(plan.results()[lane].final_value, 0, lane);
  }
  return plan.trace();
}

}  // namespace

Trace play_chase(Session& session, const ChaseProbe& probe) {
  if (const auto chains = plan_chains(probe.lanes, accesses_of(probe))) {
    return play_chains(session, probe, *chains);
  }
  return play_scripts(session, probe);
}

kernels::Load to_load(LoadPath path) {
  switch (path) {
    case LoadPath::ca: return kernels::Load::ca;
    case LoadPath::cg: return kernels::Load::cg;
    case LoadPath::nc: return kernels::Load::nc;
    case LoadPath::cv: return kernels::Load::cv;
    default: break;
  }
  throw DeviceError(fmt::format("the path {} is not played on a CUDA device", to_text(path)));
}

}  // namespace sonde::cuda
