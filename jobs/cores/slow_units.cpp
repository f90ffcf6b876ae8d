// Units that are slower than their peers, and what TPCs read: findings of the job placement.
// Method: docs/methods/placement.md.
#include "analysis/structure/cores/slow_units.hpp"
#include "analysis/replication.hpp"
#include "analysis/statistics.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/cores/read_map.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Latencies of a map are means over hundreds of windows: differences below this are noise.
constexpr double map_noise_cycles = 0.25;
/// Reads of equal SMs differ by so much of their rate: that of streams of an H200 is 0.1 %, and
/// their ways to the L2 differ.
constexpr double read_noise = 0.005;
/// Groups that the job topology was sure enough of; none if it was not.
SmGroups known_groups(const JobRun& run, const char* metric) {
  const Finding* finding = sure_groups(run, metric);
  if (finding == nullptr) return {};
  const auto& numbers = std::get<std::vector<double>>(finding->value);
  return make_groups({numbers.begin(), numbers.end()}, Singles::keep);
}

/// Out of the first cache: three quarters of it at most, with as much under way as goes, so that
/// little is done between loads. One pass of many misses.
SmStream l1_stream(double l1_bytes) {
  SmStream stream{.path = LoadPath::all_levels, .block_threads = 512, .passes = 512};
  const auto under_way = [&] { return std::uint64_t{16} * stream.block_threads * stream.ilp; };
  while (stream.ilp > 1 && static_cast<double>(under_way()) > 0.75 * l1_bytes) stream.ilp /= 2;
  stream.piece_bytes = under_way();
  return stream;
}
/// Out of memory: what all SMs of a batch read is many times the L2. With half as much under way an
/// H200 read 52 B/cycle, a third less: it waited for latency.
constexpr SmStream dram_stream{.block_threads = 512, .ilp = 16, .piece_bytes = 32_MiB};

void report_rates(JobRun& run, const std::string& metric, const std::string& remark,
                  const std::function<RateMap()>& measure) {
  RateMap map;
  if (!measure_part(run, {metric}, [&] { map = measure(); })) return;
  const std::vector<double> medians = medians_by_place(map);
  std::vector<double> deviations;
  for (std::size_t sm = 0; sm < medians.size(); ++sm) {
    std::vector<double> values;
    for (const auto& rates : map) values.push_back(rates[sm]);
    if (!std::isnan(medians[sm])) deviations.push_back(deviation_between(values));
  }
  Finding finding = found(metric, medians, 1, map.size() * medians.size());
  finding.replicates = map.size();
  finding.reproducibility = median(std::move(deviations));
  run.report(std::move(finding), remark);
}

/// What each SM moves: from L1 and shared memory all at once, from what they share TPC by TPC.
void report_all_rates(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs) {
  const std::string co_readers =
      tpcs.sizes.empty() ? "each SM alone: TPCs are not known" : "all SMs of a TPC at once";
  report_rates(run, "placement.read_bytes_per_cycle", co_readers, [&] {
    return measure_read_map(run, tpcs, gpcs, l2_stream, derive_seed(run.seed(), "read map"));
  });
  report_rates(run, "placement.read_dram_bytes_per_cycle", co_readers, [&] {
    return measure_read_map(run, tpcs, gpcs, dram_stream, derive_seed(run.seed(), "memory map"));
  });
  report_rates(run, "placement.copy_shared_bytes_per_cycle", "all SMs at once, copies",
               [&] { return measure_shared_copies(run); });
  const Finding* l1 = run.finding("placement.l1_latency_cycles");
  if (l1 == nullptr) {
    return run.report(not_present("placement.read_l1_bytes_per_cycle",
                                  "ca loads are as slow as cg loads: no L1 serves them"));
  }
  const auto l1_bytes = run.number("cache.l1.size_bytes");
  if (!l1_bytes) {
    return run.report(not_resolvable("placement.read_l1_bytes_per_cycle",
                                     "the size of the L1 is not known (cache.l1.size_bytes)"));
  }
  report_rates(run, "placement.read_l1_bytes_per_cycle", "all SMs at once",
               [&] { return measure_private_reads(run, l1_stream(*l1_bytes)); });
}

/// What a map of SMs that was found says, if it was; `groups` empty: of SMs.
void add_slow_units(const JobRun& run, std::vector<SlowUnit>& slow, const char* metric, UnitMap map,
                    const SmGroups* groups = nullptr) {
  const auto values = run.vector(metric);
  if (!values) return;
  map.values = *values;
  if (groups != nullptr) map = by_group(map, *groups);
  if (map.better == Better::higher) map.floor = read_noise * median(map.values);
  const std::vector<SlowUnit> found = find_slow_units(map);
  slow.insert(slow.end(), found.begin(), found.end());
}

/// The worst unit of a kind; what else is out stands behind it.
void report_slow_unit(JobRun& run, const char* metric, const char* kind, bool are_known,
                      std::vector<SlowUnit> slow) {
  if (!are_known) {
    return run.report(not_resolvable(metric, fmt::format("{}s are not known", kind)));
  }
  if (slow.empty()) {
    return run.report(
        not_present(metric, fmt::format("no {} stands out from the scatter of its peers", kind)));
  }
  std::ranges::stable_sort(slow, std::greater<>(), &SlowUnit::score);
  std::vector<std::string> texts;
  for (const SlowUnit& unit : slow) {
    texts.push_back(fmt::format("{} {}: {}", kind, unit.number, describe_slow_unit(unit)));
  }
  run.report(
      found(metric, static_cast<double>(slow.front().number), slow.front().confidence, slow.size()),
      fmt::format("{}", fmt::join(texts, "; ")));
}

}  // namespace

/// SMs by what each has for itself. What it shares, the way to the L2 above all, differs from TPC
/// to TPC and from GPC to GPC in healthy devices, too: these are compared with their like.
void report_slow_units(JobRun& run) {
  const SmGroups tpcs = known_groups(run, "topology.tpc_of_sm");
  const SmGroups gpcs = known_groups(run, "topology.gpc_of_sm");
  report_all_rates(run, tpcs, gpcs);
  const auto cycles = [](const char* what) {
    return UnitMap{.what = what, .unit = "cycles", .floor = map_noise_cycles, .values = {}};
  };
  const auto rates = [](const char* what) {
    return UnitMap{.what = what, .unit = "B/cycle", .better = Better::higher, .values = {}};
  };
  const auto add_shared = [&](const SmGroups* groups, std::vector<SlowUnit>& slow) {
    add_slow_units(run, slow, "placement.read_bytes_per_cycle", rates("reads per SM"), groups);
    if (groups == nullptr) return;
    add_slow_units(run, slow, "placement.l2_latency_cycles", cycles("L2 latency"), groups);
  };
  std::vector<SlowUnit> sms, slow_tpcs, slow_gpcs;
  add_slow_units(run, sms, "placement.l1_latency_cycles", cycles("L1 latency"));
  add_slow_units(run, sms, "placement.shared_latency_cycles", cycles("shared memory latency"));
  add_slow_units(run, sms, "placement.texture_latency_cycles", cycles("texture latency"));
  add_slow_units(run, sms, "placement.constant_latency_cycles", cycles("constant latency"));
  add_slow_units(run, sms, "placement.read_l1_bytes_per_cycle", rates("L1 reads"));
  add_slow_units(run, sms, "placement.copy_shared_bytes_per_cycle", rates("shared memory copies"));
  if (tpcs.sizes.empty()) add_shared(nullptr, sms);
  if (!tpcs.sizes.empty()) add_shared(&tpcs, slow_tpcs);
  if (!gpcs.sizes.empty()) add_shared(&gpcs, slow_gpcs);
  report_slow_unit(run, "placement.slowest_sm", "SM", true, std::move(sms));
  report_slow_unit(run, "placement.slowest_tpc", "TPC", !tpcs.sizes.empty(), std::move(slow_tpcs));
  report_slow_unit(run, "placement.slowest_gpc", "GPC", !gpcs.sizes.empty(), std::move(slow_gpcs));
}

}  // namespace sonde
