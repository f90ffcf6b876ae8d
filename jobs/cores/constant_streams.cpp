// Chooses footprints by what is known of the constant caches, and streams through them.
#include "jobs/cores/constant_streams.hpp"

#include "analysis/statistics.hpp"
#include "analysis/structure/cores/constant_rates.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/run/clock_window.hpp"
#include "jobs/run/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde {
namespace {

constexpr double constant_word_bytes = 4;
/// Of a block: about 20 us if each load waits for the one before it in a second-level cache.
constexpr std::uint64_t loads_of_block = 2048;
/// The same for the first-level cache, which answers faster.
constexpr std::uint64_t first_level_loads_of_block = 8192;
/// A footprint leaves room for other data in its cache (parameters of kernels, code).
constexpr double filled_share = 0.75;
/// Ratios of a cyclic footprint to the inner cache. Under LRU the cache keeps nothing of it; under
/// random replacement it keeps 0.58 of 1.5 times its size and 0.06 of three times its size.
constexpr double least_overflow = 1.5;
constexpr double sure_overflow = 3;
constexpr std::size_t orders = 3;  // in which SMs are added; a median drops one disturbed launch
constexpr std::size_t neighbour_trials = 3;
constexpr int assumed_tpc_sms = 3;
/// If neighbouring SMs get more each than a single SM by this factor, they do not show the level.
constexpr double most_gain = 1.05;
/// A shape with fewer threads is the best if it reaches this share of the highest rate.
constexpr double equal_share = 0.97;

/// The two shapes of Wong 2010; then more warps, reading one address at a time or several.
constexpr std::array shapes{one_thread,       eight_threads,     BlockShape{4, 1},
                            BlockShape{8, 1}, BlockShape{16, 1}, BlockShape{32, 1},
                            BlockShape{4, 8}};

std::string cache_metric(std::size_t level, std::string_view name) {
  return fmt::format("cache.constant_{}.{}", constant_levels[level], name);
}

/// @throws NoAnswer with the reason why the metric has no number
double known_number(const JobRun& run, const std::string& metric) {
  if (const auto number = run.number(metric)) return *number;
  const Finding* answer = run.answer(metric);
  const bool absent = answer != nullptr && answer->status == Status::not_present;
  throw NoAnswer(absent ? Status::not_present : Status::not_resolvable,
                 answer == nullptr ? fmt::format("{} is not known (its job did not run)", metric)
                                   : fmt::format("{}: {}", metric, answer->reason));
}

/// Size of a cache, or of the bank if the cache holds the whole bank.
double reached_size(const JobRun& run, std::size_t level) {
  const std::string metric = cache_metric(level, "size_bytes");
  const bool holds_bank =
      !run.number(metric) && run.number(cache_metric(level, "hit_latency_cycles"));
  return holds_bank ? static_cast<double>(constant_bank_bytes) : known_number(run, metric);
}

/// SMs of the same group; only the SM if its group is not known.
/// @param group_of_sm below 0: not known
std::vector<int> members_of(const std::vector<double>& group_of_sm, int sm) {
  const double group = group_of_sm.at(static_cast<std::size_t>(sm));
  if (group < 0) return {sm};
  std::vector<int> members;
  for (std::size_t other = 0; other < group_of_sm.size(); ++other) {
    if (group_of_sm[other] == group) members.push_back(static_cast<int>(other));
  }
  return members;
}

/// TPC of each SM. If TPCs are not known, three consecutive SMs count as one (GT200 has three SMs
/// per TPC, later GPUs one or two).
std::vector<double> assumed_tpcs(const JobRun& run) {
  if (const auto tpcs = run.vector("topology.tpc_of_sm")) return *tpcs;
  std::vector<double> tpcs;
  for (const int sm : all_sms(run)) {
    const int tpc = sm / assumed_tpc_sms;
    tpcs.push_back(tpc);
  }
  return tpcs;
}

/// Whether neighbouring SMs get no more each than a single SM.
bool is_of_level(JobRun& run, const LevelPlan& plan, const BlockShape& shape) {
  for (std::size_t number = 0; number < neighbour_trials; ++number) {
    const int sm = draw_replicate(run, "neighbours", number).sm;
    const std::vector<int> sms = members_of(assumed_tpcs(run), sm);
    if (sms.size() == 1) continue;
    const double among_neighbours =
        stream_rate(run, plan, shape, sms) / static_cast<double>(sms.size());
    if (among_neighbours > most_gain * stream_rate(run, plan, shape, {sm})) return false;
  }
  return true;
}

}  // namespace

bool LevelPlan::fits(const BlockShape& shape, const DeviceInfo& gpu) const {
  const std::uint64_t words = footprint_bytes / step_bytes;
  const auto threads = static_cast<std::uint64_t>(shape.threads());
  return words >= threads * constant_loads_in_flight &&
         shape.warps * static_cast<int>(warp_threads) <= gpu.max_threads_per_block;
}

LevelPlan plan_constant_level(const JobRun& run, std::size_t level) {
  const bool is_first = level == 0;
  const double size_bytes =
      is_first ? known_number(run, cache_metric(0, "size_bytes")) : reached_size(run, level);
  const std::string inner = cache_metric(is_first ? 0 : level - 1, "size_bytes");
  const double inner_bytes = known_number(run, inner);
  const double step_bytes =
      is_first ? constant_word_bytes : known_number(run, cache_metric(level - 1, "line_bytes"));
  const double room_bytes =
      is_first ? size_bytes / 2
               : std::min(filled_share * size_bytes, static_cast<double>(constant_bank_bytes));
  const double row_bytes = step_bytes * constant_loads_in_flight;
  LevelPlan plan{
      .prefix = fmt::format("constant.{}.", constant_levels[level]),
      .footprint_bytes = static_cast<std::uint64_t>(std::floor(room_bytes / row_bytes) * row_bytes),
      .step_bytes = static_cast<std::uint64_t>(step_bytes),
      .loads = is_first ? first_level_loads_of_block : loads_of_block,
      .confidence = run.finding(inner)->confidence};
  const double overflow = static_cast<double>(plan.footprint_bytes) / inner_bytes;
  const bool is_possible =
      plan.footprint_bytes > 0 && size_bytes <= static_cast<double>(constant_bank_bytes);
  if (is_first && !is_possible) {
    throw NoAnswer(Status::not_resolvable,
                   fmt::format("{} is not a possible size of such a cache", inner));
  }
  if (!is_first && overflow < least_overflow) {
    throw NoAnswer(
        Status::not_resolvable,
        fmt::format("no footprint lies clearly between this cache ({:.0f} B) and the one "
                    "before it ({:.0f} B)",
                    size_bytes, inner_bytes));
  }
  if (!is_first && overflow < sure_overflow) plan.confidence = std::min(plan.confidence, 0.9);
  return plan;
}

std::vector<double> block_counts(int sm_count) {
  std::vector<double> counts;
  for (int count : {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256}) {
    if (count < sm_count) counts.push_back(count);
  }
  counts.push_back(sm_count);
  return counts;
}

std::vector<double> uneven_counts(int sm_count) {
  return {sm_count + 1.0, sm_count + std::ceil(sm_count / 2.0), 2.0 * sm_count};
}

double stream_rate(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                   const std::vector<int>& sms, int doubled_sms) {
  const std::uint64_t row = constant_loads_in_flight;
  const auto threads = static_cast<std::uint64_t>(shape.threads());
  const ConstantStreamProbe probe{.sms = sms,
                                  .warps = shape.warps,
                                  .warp_threads = shape.warp_threads,
                                  .footprint_bytes = plan.footprint_bytes,
                                  .step_bytes = plan.step_bytes,
                                  .accesses = std::max(2 * row, plan.loads / threads / row * row),
                                  .doubled_sms = doubled_sms};
  const Trace trace = run.ask(
      fmt::format("{}stream, {} blocks of {} x {} threads", plan.prefix,
                  static_cast<int>(sms.size()) + doubled_sms, shape.warps, shape.warp_threads),
      probe);
  return total_bytes_per_cycle(trace.lanes, static_cast<double>(plan.step_bytes));
}

std::vector<std::vector<double>> measure_curves(JobRun& run, const LevelPlan& plan,
                                                const BlockShape& shape,
                                                const std::vector<double>& blocks) {
  std::vector<std::vector<double>> curves(orders);
  for (std::size_t number = 0; number < orders; ++number) {
    std::vector<int> order = all_sms(run);
    Random random(draw_replicate(run, "order of blocks", number).seed);
    shuffle(order, random);
    for (double count : blocks) {
      const int sms = std::min(static_cast<int>(count), run.info().sm_count);
      curves[number].push_back(stream_rate(run, plan, shape, {order.begin(), order.begin() + sms},
                                           static_cast<int>(count) - sms));
    }
  }
  return curves;
}

std::optional<BlockShape> find_best_shape(JobRun& run, const LevelPlan& plan) {
  std::optional<BlockShape> best;
  double best_rate = 0;
  const int sm = draw_replicate(run, "shapes", 0).sm;
  for (const BlockShape& shape : shapes) {
    if (!plan.fits(shape, run.info()) || !is_of_level(run, plan, shape)) continue;
    const double rate = stream_rate(run, plan, shape, {sm});
    if (equal_share * rate <= best_rate) continue;
    best = shape;
    best_rate = rate;
  }
  return best;
}

std::vector<double> rates_in_groups(JobRun& run, const LevelPlan& plan, const BlockShape& shape,
                                    const std::string& groups_metric) {
  const auto groups = run.vector(groups_metric);
  std::vector<double> rates;
  for (std::size_t number = 0; groups && number < orders; ++number) {
    const int sm = draw_replicate(run, groups_metric, number).sm;
    if (groups->at(static_cast<std::size_t>(sm)) < 0) continue;
    const std::vector<int> members = members_of(*groups, sm);
    rates.push_back(stream_rate(run, plan, shape, members) / static_cast<double>(members.size()));
  }
  return rates;
}

}  // namespace sonde
