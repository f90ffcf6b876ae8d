// Streams of constants that are answered by one level of their caches: the footprint that it takes,
// and rates by number of blocks and by group of SMs. Made for jobs/constant_throughput.cpp.
#pragma once

#include "jobs/run/job_run.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

inline constexpr std::array constant_levels{"l1", "l2", "l3"};

/// Threads of a block that load.
struct BlockShape {
  int warps = 1;
  int warp_threads = 1;
  int threads() const { return warps * warp_threads; }
  bool operator==(const BlockShape&) const = default;
};
inline constexpr BlockShape one_thread{1, 1};
inline constexpr BlockShape eight_threads{1, 8};

/// How one level is read.
struct LevelPlan {
  std::string prefix;  // of its metrics
  std::uint64_t footprint_bytes = 0;
  std::uint64_t step_bytes = 0;
  double load_bytes = 0;  // that the level gives away for each load
  std::uint64_t loads = 0;
  double confidence = 1;  // that all loads are answered there

  bool fits(const BlockShape& shape, const DeviceInfo& gpu) const;
};

/// How level number `level`, from 0 on, is read, by what the jobs cache.constant_* found: half of
/// the first cache word by word; of others most of the cache, a word of each line of the cache
/// before it, which is too small for them.
/// @throws NoAnswer if that is not known, or no footprint fits
LevelPlan plan_constant_level(const JobRun& run, std::size_t level);

/// Numbers of blocks to ask for: all of the first few, then some in each octave, and all SMs.
std::vector<double> block_counts(int sm_count);

/// Bytes per cycle of blocks on these SMs together. @throws DeviceError
double stream_rate(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                   const std::vector<int>& sms);

/// Rates against the number of blocks, a row for each of several orders in which SMs are added, all
/// drawn; blocks ascending.
std::vector<std::vector<double>> measure_curves(JobRun& run, const LevelPlan& plan,
                                                const BlockShape& shape,
                                                const std::vector<double>& blocks);

/// The shape by which one SM gets most, of those that show the level: where SMs beside each other
/// get more each than one alone, they find lines that others brought into a cache before it (Wong
/// 2010: eight threads of more than 20 blocks). Nothing if no shape shows it.
std::optional<BlockShape> find_best_shape(JobRun& run, const LevelPlan& plan);

/// What each SM gets while all SMs of its group work, median over some drawn groups; NaN if groups
/// are not known. @param groups_metric a number for each SM; below 0: not known
double rate_in_group(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                     const std::string& groups_metric);

}  // namespace sonde
