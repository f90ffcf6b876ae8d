// Finds units that are slower than their peers and measures what TPCs read, for the job placement.
// Method: docs/methods/placement.md.

#include "analysis/structure/cores/slow_units.hpp"
#include "analysis/replication.hpp"
#include "analysis/statistics.hpp"
#include "analysis/topology.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/cores/parts.hpp"
#include "jobs/cores/port_trials.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/job_run.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde {
namespace {

/// [replicate][SM] bytes per cycle; NaN for an SM without a TPC if TPCs are known.
using RateMap = std::vector<std::vector<double>>;

constexpr std::size_t replicate_count = 3;  // a median drops one that was disturbed
/// Copies in shared memory. This many warps and elements in flight are the best on an H200 (128 of
/// 128 B/cycle); the start of a block takes less than a percent.
constexpr int copy_threads = 1024;
constexpr int most_copy_ilp = 8;
constexpr int copy_passes = 1024;

using Sms = std::vector<int>;

/// SMs of each TPC; single SMs if no TPC is known.
std::vector<Sms> list_units(const JobRun& run, const SmGroups& tpcs) {
  std::vector<Sms> units = sms_by_group(tpcs);
  if (!units.empty()) return units;
  for (const int sm : all_sms(run)) units.push_back({sm});
  return units;
}

/// Groups units that read at once: one unit of each GPC. Units of no known GPC read alone.
std::vector<Sms> list_batches(std::vector<Sms> units, const SmGroups& gpcs, Random& random) {
  shuffle(units, random);
  std::map<int, std::size_t> used;  // number of batches with a unit of the GPC
  std::vector<Sms> batches, alone;
  for (const Sms& unit : units) {
    const int gpc = gpcs.group_of_sm[static_cast<std::size_t>(unit.front())];
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

/// Runs `measure` for each replicate; it sets the rates of SMs, which otherwise stay NaN.
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

/// All SMs of a TPC read at once. TPCs of different GPCs read at the same time, as they share no
/// port; each replicate combines other TPCs and reads other memory. If TPCs are not known, each SM
/// reads alone.
/// @param tpcs, gpcs empty if not known
/// @throws DeviceError
RateMap measure_read_map(JobRun& run, const SmGroups& tpcs, const SmGroups& gpcs,
                         const SmStream& reads, std::uint64_t seed) {
  const std::vector<Sms> units = list_units(run, tpcs);
  Random random(seed);
  return measure_map(run, "read map", [&](Place place, std::vector<double>& rates) {
    for (const Sms& sms : list_batches(units, gpcs, random)) {
      stream(run, "reads by TPC", sms, place, reads, rates);
    }
  });
}

/// Copies inside shared memory, on all SMs at once, counting bytes read and written.
/// @throws DeviceError
RateMap measure_shared_copies(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  SharedStreamProbe probe{.block_threads = std::min(copy_threads, gpu.max_threads_per_block),
                          .ilp = most_copy_ilp,
                          .passes = copy_passes};
  // Source and target together take at most half of what a block may have.
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

/// Latencies of a map are means of hundreds of windows; smaller differences are noise.
constexpr double map_noise_cycles = 0.25;
/// Relative noise of reads between equal SMs. For streams of an H200 it is 0.1 %; distances to the
/// L2 add to it.
constexpr double read_noise = 0.005;
/// Reads from the L1: at most three quarters of it, with as many bytes in flight as possible, so
/// that little else is done between loads. Only the first pass misses.
SmStream l1_stream(double l1_bytes) {
  SmStream stream{.path = LoadPath::all_levels, .block_threads = 512, .passes = 512};
  const auto under_way = [&] { return std::uint64_t{16} * stream.block_threads * stream.ilp; };
  while (stream.ilp > 1 && static_cast<double>(under_way()) > 0.75 * l1_bytes) stream.ilp /= 2;
  stream.piece_bytes = under_way();
  return stream;
}
/// Reads from memory: the SMs of a batch read many times the size of the L2. With half as many
/// bytes in flight an H200 read 52 B/cycle, a third less, as it waited for latency.
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

/// Reports the rates of each SM: for L1 and shared memory all SMs at once; for shared units by TPC.
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
  const char* of_l1 = "placement.read_l1_bytes_per_cycle";
  if (run.finding("placement.l1_latency_cycles") == nullptr) {
    return run.report(not_present(of_l1, "ca loads are as slow as cg loads: no L1 serves them"));
  }
  const auto l1_bytes = run.number("cache.l1.size_bytes");
  if (!l1_bytes) {
    return run.leave_open(of_l1, "the size of the L1 is not known (cache.l1.size_bytes)");
  }
  report_rates(run, of_l1, "all SMs at once", [&] {
    const SmStream reads = l1_stream(*l1_bytes);
    return measure_map(run, "private reads", [&](Place place, std::vector<double>& rates) {
      stream(run, "reads by SM", all_sms(run), place, reads, rates);
    });
  });
}

/// Maps of SMs in which units are compared. Values of shared units, such as the distance to the L2,
/// differ between TPCs and between GPCs of healthy devices, too; only their means are compared.
struct ComparedMap {
  const char* metric;
  const char* what;
  bool is_rate;
  bool of_sms;  // about units that each SM has for itself; else compares TPCs and GPCs by their
                // means
};
constexpr ComparedMap compared_maps[] = {
    {"placement.l1_latency_cycles", "L1 latency", false, true},
    {"placement.shared_latency_cycles", "shared memory latency", false, true},
    {"placement.texture_latency_cycles", "texture latency", false, true},
    {"placement.constant_latency_cycles", "constant latency", false, true},
    {"placement.read_l1_bytes_per_cycle", "L1 reads", true, true},
    {"placement.copy_shared_bytes_per_cycle", "shared memory copies", true, true},
    {"placement.read_bytes_per_cycle", "reads per SM", true, false},
    {"placement.l2_latency_cycles", "L2 latency", false, false}};

/// The mean of each group; NaN for a group with an SM of unknown value.
std::vector<double> means_of(const SmGroups& groups, const std::vector<double>& of_sms) {
  std::vector<double> means(groups.sizes.size());
  for (std::size_t sm = 0; sm < of_sms.size(); ++sm) {
    if (groups.group_of_sm[sm] < 0) continue;
    const auto at = static_cast<std::size_t>(groups.group_of_sm[sm]);
    means[at] += of_sms[sm] / groups.sizes[at];
  }
  return means;
}

/// Units that stand out in a map. @param groups nullptr: single SMs
std::vector<SlowUnit> find_slow(const JobRun& run, const SmGroups* groups, bool knows_tpcs) {
  std::vector<SlowUnit> slow;
  for (const ComparedMap& compared : compared_maps) {
    // If TPCs are not known, each SM reads alone.
    const bool alone = groups == nullptr && compared.is_rate && !knows_tpcs;
    if (compared.of_sms != (groups == nullptr) && !alone) continue;
    const auto values = run.vector(compared.metric);
    if (!values) continue;
    UnitMap map{.what = compared.what,
                .unit = compared.is_rate ? "B/cycle" : "cycles",
                .better = compared.is_rate ? Better::higher : Better::lower,
                .floor = map_noise_cycles,
                .values = groups == nullptr ? *values : means_of(*groups, *values)};
    if (compared.is_rate) map.floor = read_noise * median(map.values);
    std::ranges::move(find_slow_units(map), std::back_inserter(slow));
  }
  return slow;
}

/// Reports the worst unit of a kind; the remark lists all that stand out.
void report_slow_unit(JobRun& run, const char* metric, const char* kind, bool are_known,
                      std::vector<SlowUnit> slow) {
  if (!are_known) {
    return run.leave_open(metric, fmt::format("{}s are not known", kind));
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

void report_slow_units(JobRun& run) {
  const SmGroups tpcs = sure_groups(run, "topology.tpc_of_sm").groups;
  const SmGroups gpcs = sure_groups(run, "topology.gpc_of_sm").groups;
  report_all_rates(run, tpcs, gpcs);
  const bool knows_tpcs = !tpcs.sizes.empty();
  report_slow_unit(run, "placement.slowest_sm", "SM", true, find_slow(run, nullptr, knows_tpcs));
  report_slow_unit(run, "placement.slowest_tpc", "TPC", knows_tpcs,
                   find_slow(run, &tpcs, knows_tpcs));
  report_slow_unit(run, "placement.slowest_gpc", "GPC", !gpcs.sizes.empty(),
                   find_slow(run, &gpcs, knows_tpcs));
}

}  // namespace sonde
