// Job `dsm`: distributed shared memory. Latency of loads from the shared memory of another block of
// the cluster, and the rate at which a block reads it, by the position of both SMs. Method:
// docs/methods/dsm.md.
#include "analysis/statistics.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace sonde {
namespace {

/// Per pair: every launch has some hundred pairs, and every rank reads.
constexpr std::uint64_t dsm_chase_accesses = 16;
/// Largest cluster size on every GPU with clusters (CUDA programming guide). Devices are compared
/// by clusters of one size, so that all have the same mixture of pairs.
constexpr int portable_blocks = 8;
/// Elements per thread: 512 KiB for a single reader, 2 MiB if all blocks read. Blocks start some
/// thousand cycles apart, which is then a percent of the time.
constexpr std::uint64_t lone_accesses = 32;
constexpr std::uint64_t joint_accesses = 128;
constexpr std::size_t joint_launches = 3;  // a median drops one that was disturbed
/// Streams last longer than chases, and their rates hardly vary.
constexpr StoppingRule stream_rule{.least = 5, .most = 8};

constexpr const char* no_tpcs = "it is not known which SMs form a TPC (job topology)";

/// A block that read the shared memory of a block of its cluster, possibly its own.
struct DsmPair {
  int reader_rank = 0;
  int target_rank = 0;
  int reader_sm = -1;
  int target_sm = -1;
  double value = 0;  // cycles of a load, or bytes per cycle
};
using Pairs = std::vector<DsmPair>;

/// Distance of two SMs of a cluster. All blocks of a cluster lie in one GPC (CUDA programming
/// guide, thread block clusters).
enum class DsmReach { own, same_tpc, same_gpc };

/// The reach of a pair; nothing if the TPC of either SM is unknown.
/// @param tpc_of_sm -1: unknown
std::optional<DsmReach> reach_of(const DsmPair& pair, const std::vector<int>& tpc_of_sm) {
  if (pair.reader_rank == pair.target_rank) return DsmReach::own;
  const auto tpc_of = [&](int sm) {
    const auto at = static_cast<std::size_t>(sm);
    return sm >= 0 && at < tpc_of_sm.size() ? tpc_of_sm[at] : -1;
  };
  const int reader = tpc_of(pair.reader_sm);
  const int target = tpc_of(pair.target_sm);
  if (reader < 0 || target < 0) return std::nullopt;
  return reader == target ? DsmReach::same_tpc : DsmReach::same_gpc;
}

/// Pairs of chases, each with the mean of its windows without the outer tenths.
/// @param lanes by cluster, reader and target (DsmProbe)
Pairs latency_pairs(const std::vector<LaneTrace>& lanes, int cluster_blocks,
                    double overhead_cycles) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  Pairs pairs;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t first = i / (blocks * blocks) * (blocks * blocks);
    const std::size_t target = i % blocks;
    pairs.push_back({.reader_rank = static_cast<int>((i - first) / blocks),
                     .target_rank = static_cast<int>(target),
                     .reader_sm = lanes[i].sm,
                     .target_sm = lanes.at(first + target * blocks).sm,
                     .value = precise_latency_cycles(lanes[i].window_cycles, overhead_cycles)});
  }
  return pairs;
}

/// Pairs of streams, with the reader's bytes per cycle. Leaves out lanes without a duration.
/// @param lanes by cluster and rank (DsmProbe)
Pairs stream_pairs(const std::vector<LaneTrace>& lanes, int cluster_blocks, int distance) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  Pairs pairs;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].elapsed_cycles == 0) continue;
    const std::size_t first = i / blocks * blocks;
    const std::size_t target = (i - first + static_cast<std::size_t>(distance)) % blocks;
    pairs.push_back({.reader_rank = static_cast<int>(i - first),
                     .target_rank = static_cast<int>(target),
                     .reader_sm = lanes[i].sm,
                     .target_sm = lanes.at(first + target).sm,
                     .value = dsm_element_bytes * static_cast<double>(lanes[i].accesses) /
                              static_cast<double>(lanes[i].elapsed_cycles)});
  }
  return pairs;
}

/// Median of each pair of ranks, reader by reader; NaN without a pair.
std::vector<double> rank_matrix(const Pairs& pairs, int cluster_blocks) {
  const auto blocks = static_cast<std::size_t>(cluster_blocks);
  std::vector<std::vector<double>> values(blocks * blocks);
  for (const DsmPair& pair : pairs) {
    const auto row = static_cast<std::size_t>(pair.reader_rank) * blocks;
    values[row + static_cast<std::size_t>(pair.target_rank)].push_back(pair.value);
  }
  std::vector<double> matrix;
  for (std::vector<double>& of_place : values) matrix.push_back(median_in_place(of_place));
  return matrix;
}

/// For each SM, the mean over the SMs of other TPCs that it read from; NaN if there are none.
std::vector<double> reader_map(const Pairs& pairs, const std::vector<int>& tpc_of_sm) {
  std::vector<double> sums(tpc_of_sm.size());
  std::vector<double> counts(tpc_of_sm.size());
  for (const DsmPair& pair : pairs) {
    if (reach_of(pair, tpc_of_sm) != DsmReach::same_gpc) continue;
    sums[static_cast<std::size_t>(pair.reader_sm)] += pair.value;
    counts[static_cast<std::size_t>(pair.reader_sm)] += 1;
  }
  for (std::size_t sm = 0; sm < sums.size(); ++sm) {
    sums[sm] = counts[sm] > 0 ? sums[sm] / counts[sm] : NAN;
  }
  return sums;
}

/// Values of the pairs for which `wanted` returns true, by replicate; leaves out replicates without
/// any.
template <class Wanted>
Replicates pick(const std::vector<Pairs>& replicates, const Wanted& wanted) {
  Replicates picked;
  for (const Pairs& pairs : replicates) {
    std::vector<double> values;
    for (const DsmPair& pair : pairs) {
      if (wanted(pair)) values.push_back(pair.value);
    }
    if (!values.empty()) picked.samples.push_back(std::move(values));
  }
  return picked;
}

bool is_other(const DsmPair& pair) { return pair.reader_rank != pair.target_rank; }

/// Reports dsm.own_, .same_tpc_ and .same_gpc_: the median of the pairs of each reach, if there are
/// any.
void report_reaches(JobRun& run, const std::string& quantity, const std::vector<Pairs>& replicates,
                    const SureGroups& tpcs) {
  for (const auto& [name, reach] :
       {std::pair{"own", DsmReach::own}, std::pair{"same_tpc", DsmReach::same_tpc},
        std::pair{"same_gpc", DsmReach::same_gpc}}) {
    const std::string metric = fmt::format("dsm.{}_{}", name, quantity);
    const auto picked = pick(replicates, [&, wanted = reach](const DsmPair& pair) {
      return reach_of(pair, tpcs.groups.group_of_sm) == wanted;
    });
    if (!picked.samples.empty()) {
      run.report(found_pooled(metric, picked, reach == DsmReach::own ? 1 : tpcs.confidence));
    } else {
      run.leave_open(metric,
                     tpcs.are_known() ? "no cluster had two SMs in this position" : no_tpcs);
    }
  }
}

Pairs chase_clusters(JobRun& run, int blocks, double overhead_cycles) {
  const Trace trace = run.ask(
      fmt::format("chases in clusters of {}", blocks),
      DsmProbe{.kind = DsmKind::latency, .cluster_blocks = blocks, .accesses = dsm_chase_accesses});
  return latency_pairs(trace.lanes, blocks, overhead_cycles);
}

/// One launch for every size of clusters that the device allows.
using PairsBySize = std::map<int, Pairs>;

/// @param refusal gets the reason of the first size that the device refuses
PairsBySize chase_all_sizes(JobRun& run, double overhead_cycles, std::string& refusal) {
  PairsBySize sizes;
  for (int blocks = 2; blocks <= run.info().max_cluster_blocks; ++blocks) {
    const auto refused =
        refusal_of([&] { sizes[blocks] = chase_clusters(run, blocks, overhead_cycles); });
    if (refused && refusal.empty()) refusal = *refused;
  }
  return sizes;
}

/// The cluster size by which devices are compared. @pre there is one
int compared_size(const PairsBySize& sizes) {
  const auto larger = sizes.upper_bound(portable_blocks);
  return larger == sizes.begin() ? larger->first : std::prev(larger)->first;
}

void report_sizes(JobRun& run, const PairsBySize& sizes) {
  std::vector<double> blocks, cycles;
  for (const auto& [size, pairs] : sizes) {
    blocks.push_back(size);
    cycles.push_back(median(pick({pairs}, is_other).pooled()));
  }
  run.report("dsm.cluster_blocks", std::move(blocks), sizes.size());
  run.report("dsm.by_cluster_cycles", std::move(cycles), sizes.size());
}

void report_latencies(JobRun& run, int blocks, const SureGroups& tpcs, double overhead_cycles) {
  std::vector<Pairs> launches;
  measure_replicates(run, "distributed shared memory", [&](const Draw&) {
    launches.push_back(chase_clusters(run, blocks, overhead_cycles));
    return pick({launches.back()}, is_other).pooled();
  });
  run.report(found_pooled("dsm.latency_cycles", pick(launches, is_other)));
  report_reaches(run, "cycles", launches, tpcs);
  Pairs all;
  for (const Pairs& pairs : launches) all.insert(all.end(), pairs.begin(), pairs.end());
  run.report(found("dsm.pair_cycles", rank_matrix(all, blocks), 1, all.size()),
             fmt::format("clusters of {}", blocks));
  if (!tpcs.are_known()) return run.leave_open("dsm.sm_cycles", no_tpcs);
  run.report("dsm.sm_cycles", reader_map(all, tpcs.groups.group_of_sm), all.size(),
             tpcs.confidence);
}

Pairs stream_clusters(JobRun& run, const DsmProbe& probe) {
  const Trace trace = run.ask(
      fmt::format("streams in clusters of {} at distance {}", probe.cluster_blocks, probe.distance),
      probe);
  return stream_pairs(trace.lanes, probe.cluster_blocks, probe.distance);
}

/// One reader at a time, at distances within a TPC and between TPCs.
void report_lone_readers(JobRun& run, int blocks, const SureGroups& tpcs) {
  const std::set<int> distances{0, 1, std::min(2, blocks - 1), blocks / 2};
  std::vector<Pairs> launches;
  measure_replicates(
      run, "streams of one reader",
      [&](const Draw&) {
        Pairs& pairs = launches.emplace_back();
        for (int distance : distances) {
          const Pairs more = stream_clusters(run, {.kind = DsmKind::stream,
                                                   .cluster_blocks = blocks,
                                                   .accesses = lone_accesses,
                                                   .distance = distance,
                                                   .concurrency = Concurrency::in_turn});
          pairs.insert(pairs.end(), more.begin(), more.end());
        }
        return pick({pairs}, is_other).pooled();
      },
      stream_rule);
  run.report(found_pooled("dsm.bytes_per_cycle", pick(launches, is_other)));
  report_reaches(run, "bytes_per_cycle", launches, tpcs);
}

/// All blocks read from their neighbours at once. Reports bytes per cycle of each by cluster size,
/// and the highest total of all.
void report_joint_readers(JobRun& run, const PairsBySize& sizes) {
  std::vector<double> bytes_per_cycle;
  std::vector<double> best;  // bytes per cycle of all readers, by launch
  std::uint64_t samples = 0;
  for (const auto& [blocks, chased] : sizes) {
    std::vector<double> rates, totals;
    for (std::size_t i = 0; i < joint_launches; ++i) {
      const Pairs pairs = stream_clusters(
          run, {.kind = DsmKind::stream, .cluster_blocks = blocks, .accesses = joint_accesses});
      double total = 0;
      for (const DsmPair& pair : pairs) {
        rates.push_back(pair.value);
        total += pair.value;
      }
      totals.push_back(total);
      samples += pairs.size();
    }
    bytes_per_cycle.push_back(median(rates));
    if (best.empty() || median(totals) > median(best)) best = totals;
  }
  run.report("dsm.joint_bytes_per_cycle", std::move(bytes_per_cycle), samples);
  const double hz = sm_clock_hz(run);
  if (!(hz > 0)) {
    return run.leave_open("dsm.joint_bytes_per_s", "the SM clock is not known");
  }
  Finding total = found("dsm.joint_bytes_per_s", median(best) * hz, 1, samples);
  total.replicates = best.size();
  total.reproducibility = deviation_between(best) * hz;
  run.report(std::move(total));
}

}  // namespace

void run_dsm(JobRun& run) {
  if (run.info().max_cluster_blocks == 0) {
    return run.leave_open("",
                          "the GPU has no thread block clusters (from compute capability 9.0 on)");
  }
  const double overhead_cycles = window_overhead_cycles(run);
  std::string refusal;
  const PairsBySize sizes = chase_all_sizes(run, overhead_cycles, refusal);
  if (sizes.empty()) return run.leave_open("", "no cluster could be launched: " + refusal);
  const SureGroups tpcs = sure_groups(run, "topology.tpc_of_sm");
  const int blocks = compared_size(sizes);
  report_sizes(run, sizes);
  report_latencies(run, blocks, tpcs, overhead_cycles);
  const auto refused = refusal_of([&] {
    report_lone_readers(run, blocks, tpcs);
    report_joint_readers(run, sizes);
  });
  if (refused) run.leave_open("", "streams were refused: " + *refused);
}

}  // namespace sonde
