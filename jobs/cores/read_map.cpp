// Streams of TPCs that share no port, one of each GPC at a time.
#include "jobs/cores/read_map.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

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

/// Medians over the replicates.
RateMap make_map(std::vector<std::vector<double>> replicates) {
  RateMap map{.bytes_per_cycle = {}, .replicates = std::move(replicates)};
  for (std::size_t sm = 0; sm < map.replicates.front().size(); ++sm) {
    std::vector<double> values;
    for (const auto& rates : map.replicates) values.push_back(rates[sm]);
    map.bytes_per_cycle.push_back(median(std::move(values)));
  }
  return map;
}

}  // namespace

RateMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         const SmStream& stream, std::uint64_t seed) {
  const int sm_count = run.info().sm_count;
  const std::vector<Sms> units = list_units(tpcs, sm_count);
  Random random(seed);
  std::vector<std::vector<double>> replicates;
  for (std::size_t number = 0; number < replicate_count; ++number) {
    std::vector<double> rates(static_cast<std::size_t>(sm_count), NAN);
    const Place place = draw_replicate(run, "read map", number).place;
    for (const Sms& sms : list_batches(units, gpcs, random)) {
      const std::vector<double> cycles = stream_cycles(run, "reads by TPC", sms, place, stream);
      for (std::size_t i = 0; i < sms.size(); ++i) {
        rates[static_cast<std::size_t>(sms[i])] = stream.bytes() / cycles[i];
      }
    }
    replicates.push_back(std::move(rates));
  }
  return make_map(std::move(replicates));
}

RateMap measure_private_reads(JobRun& run, const SmStream& stream) {
  Sms all(static_cast<std::size_t>(run.info().sm_count));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<double>> replicates;
  for (std::size_t number = 0; number < replicate_count; ++number) {
    const Place place = draw_replicate(run, "private reads", number).place;
    std::vector<double>& rates = replicates.emplace_back();
    for (const double cycles : stream_cycles(run, "reads by SM", all, place, stream)) {
      rates.push_back(stream.bytes() / cycles);
    }
  }
  return make_map(std::move(replicates));
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
  std::vector<std::vector<double>> replicates;
  for (std::size_t number = 0; number < replicate_count; ++number) {
    std::vector<double> rates(static_cast<std::size_t>(run.info().sm_count), NAN);
    const Trace trace = run.ask(fmt::format("copies by SM, pass {}", number), probe);
    for (const LaneTrace& lane : trace.lanes) {
      rates[static_cast<std::size_t>(lane.sm)] = bytes / static_cast<double>(lane.elapsed_cycles);
    }
    replicates.push_back(std::move(rates));
  }
  return make_map(std::move(replicates));
}

}  // namespace sonde
