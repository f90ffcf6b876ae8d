// Streams of constants that one level of their caches serves: the footprint, and rates by number of
// blocks and by group of SMs. For jobs/constant_throughput.cpp.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Levels of the constant caches, as metrics name them.
inline constexpr std::array constant_levels{"l1", "l2", "l3"};

/// The threads of a block that load: warps, and threads of each warp.
struct BlockShape {
  int warps = 1;
  int warp_threads = 1;
  int threads() const { return warps * warp_threads; }
};
inline constexpr BlockShape one_thread{1, 1};
inline constexpr BlockShape eight_threads{1, 8};

/// How one level is read.
struct LevelPlan {
  std::string prefix;  // of its metrics
  std::uint64_t footprint_bytes = 0;
  std::uint64_t step_bytes = 0;  // between loads; also what the level delivers for each
  std::uint64_t loads = 0;
  double confidence = 1;  // that this level serves all loads

  /// Whether the footprint has enough words for every thread, and the GPU allows the block.
  bool fits(const BlockShape& shape, const DeviceInfo& gpu) const;
};

/// The plan for level `level`, from 0 on, by the findings of the jobs cache.constant_*. The first
/// level: half of the cache, word by word. Others: most of the cache, one word in each line of the
/// cache before it, which is too small for the footprint.
/// @throws NoAnswer if the caches are not known, or no footprint fits
LevelPlan plan_constant_level(const JobRun& run, std::size_t level);

/// Numbers of blocks to measure: every one of the first few, then some per octave, and all SMs.
std::vector<double> block_counts(int sm_count);

/// More blocks than SMs: one, half as many, and twice as many, which is even again.
std::vector<double> uneven_counts(int sm_count);

/// Bytes per cycle of the blocks on these SMs together. @param doubled_sms that run two blocks: the
/// first of `sms` @throws DeviceError
double stream_rate(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                   const std::vector<int>& sms, int doubled_sms = 0);

/// Rates against the number of blocks, one row for each of several random orders in which SMs are
/// added. @param blocks ascending; if there are more than SMs, some SMs run two
std::vector<std::vector<double>> measure_curves(JobRun& run, const LevelPlan& plan,
                                                const BlockShape& shape,
                                                const std::vector<double>& blocks);

/// The shape with the highest rate on one SM, among those that show the level. If neighbouring SMs
/// get more each than a single SM, they hit lines that others brought into an inner cache (Wong
/// 2010: eight threads of more than 20 blocks). nullopt if no shape shows the level.
std::optional<BlockShape> find_best_shape(JobRun& run, const LevelPlan& plan);

/// Rate of an SM while all SMs of its group work, for some random groups; empty if groups are not
/// known. @param groups_metric has the group of each SM; below 0: not known
std::vector<double> rates_in_groups(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                                    const std::string& groups_metric);

}  // namespace sonde
