// Job `dsm`: distributed shared memory. Latency of loads from the shared memory of another block of
// the cluster, and the rate at which a block reads it, by the position of both SMs. Method:
// docs/methods/dsm.md.
#include "analysis/statistics.hpp"
#include "analysis/structure/cores/dsm_pairs.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/known_groups.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
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
constexpr int stream_threads = 1024;
/// Elements per thread: 512 KiB for a single reader, 2 MiB if all blocks read. Blocks start some
/// thousand cycles apart, which is then a percent of the time.
constexpr std::uint64_t lone_accesses = 32;
constexpr std::uint64_t joint_accesses = 128;
constexpr std::size_t joint_launches = 3;  // a median drops one that was disturbed
/// Streams last longer than chases, and their rates hardly vary.
constexpr StoppingRule stream_rule{.least = 5, .most = 8};

using Pairs = std::vector<DsmPair>;

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

/// Reports the median of the pairs of one reach, if there are any.
void report_reach(JobRun& run, const std::string& metric, const std::vector<Pairs>& replicates,
                  const SureGroups& tpcs, DsmReach reach) {
  const auto picked = pick(replicates, [&](const DsmPair& pair) {
    return reach_of(pair, tpcs.groups.group_of_sm) == reach;
  });
  if (!picked.samples.empty()) {
    return run.report(found_pooled(metric, picked, reach == DsmReach::own ? 1 : tpcs.confidence));
  }
  run.report(not_resolvable(metric, !tpcs.are_known()
                                        ? "it is not known which SMs form a TPC (job topology)"
                                        : "no cluster had two SMs in this position"));
}

Pairs chase_clusters(JobRun& run, int blocks, double overhead_cycles) {
  const Trace trace = run.ask(
      fmt::format("chases in clusters of {}", blocks),
      DsmProbe{.kind = DsmKind::latency, .cluster_blocks = blocks, .accesses = dsm_chase_accesses});
  return latency_pairs(trace.lanes, blocks, overhead_cycles);
}

/// One launch with clusters of one size.
struct SizeOfClusters {
  int blocks = 0;
  Pairs pairs;
};

/// One launch for every size that the device allows, and the first refusal.
struct AllSizes {
  std::vector<SizeOfClusters> sizes;
  std::string refusal;
};

AllSizes chase_all_sizes(JobRun& run, double overhead_cycles) {
  AllSizes all;
  for (int blocks = 2; blocks <= run.info().max_cluster_blocks; ++blocks) {
    const auto refusal = refusal_of([&] {
      all.sizes.push_back({blocks, chase_clusters(run, blocks, overhead_cycles)});
    });
    if (refusal && all.refusal.empty()) all.refusal = *refusal;
  }
  return all;
}

/// The cluster size by which devices are compared.
int compared_size(const AllSizes& all) {
  int blocks = all.sizes.front().blocks;
  for (const SizeOfClusters& size : all.sizes) {
    if (size.blocks <= portable_blocks) blocks = size.blocks;
  }
  return blocks;
}

void report_sizes(JobRun& run, const AllSizes& all) {
  std::vector<double> blocks, cycles;
  for (const SizeOfClusters& size : all.sizes) {
    blocks.push_back(size.blocks);
    cycles.push_back(median(pick({size.pairs}, is_other).pooled()));
  }
  const std::size_t count = blocks.size();
  run.report(found("dsm.cluster_blocks", std::move(blocks), 1, count));
  run.report(found("dsm.by_cluster_cycles", std::move(cycles), 1, count));
}

void report_latencies(JobRun& run, int blocks, const SureGroups& tpcs, double overhead_cycles) {
  std::vector<Pairs> launches;
  measure_replicates(run, "distributed shared memory", [&](const Draw&) {
    launches.push_back(chase_clusters(run, blocks, overhead_cycles));
    return pick({launches.back()}, is_other).pooled();
  });
  run.report(found_pooled("dsm.latency_cycles", pick(launches, is_other)));
  report_reach(run, "dsm.own_cycles", launches, tpcs, DsmReach::own);
  report_reach(run, "dsm.same_tpc_cycles", launches, tpcs, DsmReach::same_tpc);
  report_reach(run, "dsm.same_gpc_cycles", launches, tpcs, DsmReach::same_gpc);
  Pairs all;
  for (const Pairs& pairs : launches) all.insert(all.end(), pairs.begin(), pairs.end());
  run.report(found("dsm.pair_cycles", rank_matrix(all, blocks), 1, all.size()),
             fmt::format("clusters of {}", blocks));
  if (!tpcs.are_known()) {
    return run.report(
        not_resolvable("dsm.sm_cycles", "it is not known which SMs form a TPC (job topology)"));
  }
  run.report(found("dsm.sm_cycles", reader_map(all, tpcs.groups.group_of_sm), tpcs.confidence,
                   all.size()));
}

Pairs stream_clusters(JobRun& run, const DsmProbe& probe) {
  const Trace trace = run.ask(
      fmt::format("streams in clusters of {} at distance {}", probe.cluster_blocks, probe.distance),
      probe);
  return stream_pairs(trace.lanes, probe.cluster_blocks, probe.distance, dsm_element_bytes);
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
                                                   .block_threads = stream_threads,
                                                   .distance = distance,
                                                   .concurrency = Concurrency::in_turn});
          pairs.insert(pairs.end(), more.begin(), more.end());
        }
        return pick({pairs}, is_other).pooled();
      },
      stream_rule);
  run.report(found_pooled("dsm.bytes_per_cycle", pick(launches, is_other)));
  report_reach(run, "dsm.own_bytes_per_cycle", launches, tpcs, DsmReach::own);
  report_reach(run, "dsm.same_tpc_bytes_per_cycle", launches, tpcs, DsmReach::same_tpc);
  report_reach(run, "dsm.same_gpc_bytes_per_cycle", launches, tpcs, DsmReach::same_gpc);
}

/// All blocks read from their neighbours at once. Reports bytes per cycle of each by cluster size,
/// and the highest total of all.
void report_joint_readers(JobRun& run, const AllSizes& all) {
  std::vector<double> bytes_per_cycle;
  std::vector<double> best;  // bytes per cycle of all readers, by launch
  std::uint64_t samples = 0;
  for (const SizeOfClusters& size : all.sizes) {
    std::vector<double> rates, totals;
    for (std::size_t i = 0; i < joint_launches; ++i) {
      const Pairs pairs = stream_clusters(run, {.kind = DsmKind::stream,
                                                .cluster_blocks = size.blocks,
                                                .accesses = joint_accesses,
                                                .block_threads = stream_threads});
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
  run.report(found("dsm.joint_bytes_per_cycle", std::move(bytes_per_cycle), 1, samples));
  const double hz = sm_clock_hz(run);
  if (!(hz > 0)) {
    return run.report(not_resolvable("dsm.joint_bytes_per_s", "the SM clock is not known"));
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
  const AllSizes all = chase_all_sizes(run, overhead_cycles);
  if (all.sizes.empty()) {
    return run.leave_open("", "no cluster could be launched: " + all.refusal);
  }
  const SureGroups tpcs = sure_groups(run, "topology.tpc_of_sm");
  const int blocks = compared_size(all);
  report_sizes(run, all);
  report_latencies(run, blocks, tpcs, overhead_cycles);
  const auto refusal = refusal_of([&] {
    report_lone_readers(run, blocks, tpcs);
    report_joint_readers(run, all);
  });
  if (refusal) run.leave_open("", "streams were refused: " + *refusal);
}

}  // namespace sonde
