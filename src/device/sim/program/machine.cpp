#include "device/sim/program/machine.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace sonde::sim {
namespace {

/// The first blocks, one to each SM in turn until all SMs are full.
void give_first_blocks(std::vector<ProgramSm>& sms, int resident_blocks) {
  for (int block = 0; block < resident_blocks; ++block) {
    for (ProgramSm& sm : sms) sm.add_block();
  }
}

/// All SMs whose time has come do what they have to, each time another one first, so that requests
/// reach the memory side in order and nobody is favoured.
void play_together(std::vector<ProgramSm>& sms) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  for (const ProgramSm& sm : sms) times.push_back(sm.done() ? never : sm.time());
  std::size_t first = 0;
  for (double now = std::ranges::min(times); now < never;) {
    double next = never;
    for (std::size_t i = 0, at = first; i < sms.size(); ++i) {
      if (times[at] <= now) {
        sms[at].step();
        times[at] = sms[at].done() ? never : sms[at].time();
      }
      next = std::min(next, times[at]);
      if (++at == sms.size()) at = 0;
    }
    if (++first == sms.size()) first = 0;
    now = next;
  }
}

void add(const SmCounts& more, SmCounts& counts) {
  counts.instructions += more.instructions;
  counts.l1_hits += more.l1_hits;
  counts.l1_misses += more.l1_misses;
  counts.failures += more.failures;
}

void add(std::vector<WarpResult>& more, std::vector<WarpResult>& results) {
  results.resize(more.size());
  for (std::size_t at = 0; at < more.size(); ++at) {
    results[at].accesses += more[at].accesses;
    results[at].issue_cycles += more[at].issue_cycles;
    results[at].windows.insert(results[at].windows.end(), more[at].windows.begin(),
                               more[at].windows.end());
  }
}

}  // namespace

std::vector<MachineSm> play_machine(const MachineModel& model, const ProgramProbe& probe,
                                    int sm_count, std::uint64_t ranks,
                                    std::uint64_t buffer_address) {
  MemorySide memory(model.memory, sm_count);
  std::vector<L1Tags> l1s;
  if (model.l1) l1s.assign(static_cast<std::size_t>(sm_count), L1Tags(*model.l1));
  std::vector<std::unique_ptr<BypassGenerator>> generators(static_cast<std::size_t>(sm_count));
  if (probe.machine.dynamic && model.l1) {
    for (auto& generator : generators) {
      generator =
          std::make_unique<BypassGenerator>(*probe.machine.dynamic, bypass_units(probe),
                                            model.l1->sets, model.l1->ways, model.l1->set_of);
      if (probe.machine.dynamic->one_for_all) break;
    }
  }
  const auto decider_of = [&](std::size_t at) {
    return generators[at] ? generators[at].get() : generators.front().get();
  };
  std::vector<MachineSm> results(static_cast<std::size_t>(sm_count));
  const auto shares = share_accesses(probe.program, probe.sm_accesses, 1);
  double begin = 0;
  for (std::size_t kernel = 0; kernel < probe.program.kernels.size(); ++kernel) {
    const KernelAccesses accesses(probe.program, probe.program.kernels[kernel], buffer_address,
                                  model.memory.line_bytes);
    KernelWork work(accesses, ranks / results.size(), shares[kernel] * results.size());
    std::vector<ProgramSm> sms;
    sms.reserve(results.size());
    for (std::size_t at = 0; at < results.size(); ++at) {
      if (model.l1) l1s[at].clear();
      sms.emplace_back(model.sm, probe, static_cast<int>(at), model.l1 ? &l1s[at] : nullptr, memory,
                       work, begin,
                       SmBypass{.decider = decider_of(at), .observer = generators[at].get()});
    }
    give_first_blocks(sms, probe.resident_blocks);
    play_together(sms);
    double end = begin;
    for (std::size_t at = 0; at < results.size(); ++at) {
      results[at].cycles += sms[at].end() - begin;
      add(sms[at].counts(), results[at].counts);
      add(sms[at].results(), results[at].warps);
      end = std::max(end, sms[at].end());
    }
    begin = end;
  }
  for (std::size_t at = 0; at < results.size(); ++at) {
    results[at].memory = memory.counts(static_cast<int>(at));
    if (const BypassGenerator* decider = decider_of(at)) {
      results[at].periods = decider->periods();
      results[at].cached_in_periods = decider->cached_in_periods();
    }
  }
  return results;
}

}  // namespace sonde::sim
