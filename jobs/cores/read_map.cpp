// Streams of TPCs that share no port, one of each GPC at a time.
#include "jobs/cores/read_map.hpp"

#include "base/random.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace sonde {
namespace {

constexpr std::size_t replicate_count = 3;  // a median drops one that was disturbed
/// Copies in shared memory: as many warps and elements under way as served an H200 best (128 of 128
/// B/cycle), long enough that the start of a block is below a percent.
constexpr int copy_threads = 1024;
constexpr int most_copy_ilp = 8;
constexpr int copy_passes = 1024;

using Sms = std::vector<int>;

int group_of(const SmGroups& groups, int sm) {
  return groups.sizes.empty() ? -1 : groups.group_of_sm[static_cast<std::size_t>(sm)];
}

/// SMs of each TPC; single SMs where none is known.
std::vector<Sms> list_units(const SmGroups& tpcs, int sm_count) {
  std::vector<Sms> units(tpcs.sizes.size());
  for (int sm = 0; sm < sm_count; ++sm) {
    const int tpc = group_of(tpcs, sm);
    if (tpc >= 0) units[static_cast<std::size_t>(tpc)].push_back(sm);
    if (tpcs.sizes.empty()) units.push_back({sm});
  }
  return units;
}

/// Units that read at once: one of each GPC; those of no known GPC read alone.
std::vector<Sms> list_batches(std::vector<Sms> units, const SmGroups& gpcs, Random& random) {
  shuffle(units, random);
  std::map<int, std::size_t> used;  // batches that have a unit of a GPC
  std::vector<Sms> batches, alone;
  for (const Sms& unit : units) {
    const int gpc = group_of(gpcs, unit.front());
    if (gpc < 0) {
      alone.push_back(unit);
      continue;
    }
    const std::size_t at = used[gpc]++;
    if (at == batches.size()) batches.emplace_back();
    batches[at].insert(batches[at].end(), unit.begin(), unit.end());
  }
  batches.insert(batches.end(), alone.begin(), alone.end());
  return batches;
}

/// Replicates, each of which sets the bytes per cycle of SMs; NaN where it does not.
RateMap measure_map(JobRun& run, const char* what,
                    const std::function<void(Place, std::vector<double>& rates)>& measure) {
  RateMap map;
  for (std::size_t number = 0; number < replicate_count; ++number) {
    map.emplace_back(static_cast<std::size_t>(run.info().sm_count), NAN);
    measure(draw_replicate(run, what, number).place, map.back());
  }
  return map;
}

void stream(JobRun& run, const char* label, const Sms& sms, Place place, const SmStream& stream,
            std::vector<double>& rates) {
  const std::vector<double> cycles = stream_cycles(run, label, sms, place, stream);
  for (std::size_t i = 0; i < sms.size(); ++i) {
    rates[static_cast<std::size_t>(sms[i])] = stream.bytes() / cycles[i];
  }
}

}  // namespace

RateMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         const SmStream& reads, std::uint64_t seed) {
  const std::vector<Sms> units = list_units(tpcs, run.info().sm_count);
  Random random(seed);
  return measure_map(run, "read map", [&](Place place, std::vector<double>& rates) {
    for (const Sms& sms : list_batches(units, gpcs, random)) {
      stream(run, "reads by TPC", sms, place, reads, rates);
    }
  });
}

RateMap measure_private_reads(JobRun& run, const SmStream& reads) {
  return measure_map(run, "private reads", [&](Place place, std::vector<double>& rates) {
    stream(run, "reads by SM", all_sms(run.info().sm_count), place, reads, rates);
  });
}

RateMap measure_shared_copies(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  SharedStreamProbe probe{.block_threads = std::min(copy_threads, gpu.max_threads_per_block),
                          .ilp = most_copy_ilp,
                          .passes = copy_passes};
  // From one part to another, in half of what a block may have at most.
  const auto held_bytes = [&] {
    return std::uint64_t{2} * static_cast<std::uint64_t>(probe.element_bytes * probe.ilp) *
           static_cast<std::uint64_t>(probe.block_threads);
  };
  while (probe.ilp > 1 && held_bytes() > gpu.shared_bytes_per_block / 2) probe.ilp /= 2;
  const double bytes = 2.0 * probe.element_bytes * probe.ilp * probe.block_threads * probe.passes;
  return measure_map(run, "shared copies", [&](Place pass, std::vector<double>& rates) {
    for (const LaneTrace& lane : run.ask(fmt::format("copies by SM, pass {}", pass), probe).lanes) {
      rates[static_cast<std::size_t>(lane.sm)] = bytes / static_cast<double>(lane.elapsed_cycles);
    }
  });
}

}  // namespace sonde
