// Streams of TPCs that share no port, one of each GPC at a time.
#include "jobs/cores/read_map.hpp"

#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "jobs/cores/port_trials.hpp"
#include "jobs/run/replicates.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace sonde {
namespace {

constexpr std::size_t replicate_count = 3;  // a median drops one that was disturbed

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

}  // namespace

ReadMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         std::uint64_t seed) {
  const int sm_count = run.info().sm_count;
  const std::vector<Sms> units = list_units(tpcs, sm_count);
  Random random(seed);
  ReadMap map;
  for (std::size_t number = 0; number < replicate_count; ++number) {
    std::vector<double> rates(static_cast<std::size_t>(sm_count), NAN);
    const Place place = draw_replicate(run, "read map", number).place;
    for (const Sms& sms : list_batches(units, gpcs, random)) {
      const std::vector<double> cycles = stream_cycles(run, "reads by TPC", sms, place);
      for (std::size_t i = 0; i < sms.size(); ++i) {
        rates[static_cast<std::size_t>(sms[i])] = stream_bytes_of_sm() / cycles[i];
      }
    }
    map.replicates.push_back(std::move(rates));
  }
  for (std::size_t sm = 0; sm < static_cast<std::size_t>(sm_count); ++sm) {
    std::vector<double> values;
    for (const auto& rates : map.replicates) values.push_back(rates[sm]);
    map.bytes_per_cycle.push_back(median(std::move(values)));
  }
  return map;
}

}  // namespace sonde
