// Builds lists and lanes of simultaneous chases, and counts misses in their windows.
#include "jobs/sharing/co_run.hpp"

#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace sonde {
namespace {

// A chase with more hits in inner caches says too little about this cache. (On an H200 the L0 of
// code served more than a quarter of a chase through the L1 in one of ten runs.)
constexpr double most_held_before = 0.35;
// Short lists are timed for this many accesses, so that single outliers do not count.
constexpr std::uint64_t fewest_timed = 256;
// Lists up to this length get two warm-up passes, longer ones one.
constexpr std::uint64_t short_list = 8192;

ChaseLane make_lane(const ListChase& chase, const Draw& draw) {
  const CoRunCache& cache = *chase.cache;
  Offsets offsets =
      shuffled_order(cache.listed_lines() * cache.line_bytes, cache.line_bytes, draw.seed);
  for (std::uint64_t& offset : offsets) offset += chase.base_bytes;
  return {.sm = chase.sm, .offsets_bytes = std::move(offsets), .path = cache.chase.path};
}

std::uint64_t most_chases_on_an_sm(const std::vector<ListChase>& chases) {
  std::map<int, std::uint64_t> on_sm;
  for (const ListChase& chase : chases) ++on_sm[chase.sm];
  return std::ranges::max_element(on_sm, {}, &std::pair<const int, std::uint64_t>::second)->second;
}

/// The setup of the chase with the smallest carve-out: an L1 then has the size that was found, and
/// other caches do not depend on it. Chases on one SM share the record.
ChaseSetup common_setup(const std::vector<ListChase>& chases) {
  ChaseSetup setup = chases.front().cache->chase;
  for (const ListChase& chase : chases) {
    const ChaseSetup& own = chase.cache->chase;
    if (own.shared_carveout_bytes < setup.shared_carveout_bytes) setup = own;
  }
  setup.recordable_accesses /= most_chases_on_an_sm(chases);
  return setup;
}

double most_missed(const std::vector<AccessShares>& shares) {
  return std::max(shares[0].missed, shares[1].missed);
}

double most_held(const std::vector<AccessShares>& shares) {
  return std::max(shares[0].held_before, shares[1].held_before);
}

/// Why lists of this length cannot be used; empty if they can.
std::string explain_length(const CoRunCache& cache) {
  if (cache.size_bytes == 0) return "its size is not known";
  if (cache.space_bytes > 0 && 2 * cache.list_bytes() > cache.space_bytes) {
    return fmt::format("two chases cannot overfill it with {} of constants or code",
                       format_bytes(static_cast<double>(cache.space_bytes)));
  }
  return {};
}

/// Two lists may need the whole space of constants or code. If two lists fill 1.25 of the cache or
/// more, even the best policy misses a fifth, which counts as a loss (analysis/sharing); if they
/// fill less, the usual length is too long.
double most_filling(const CoRunCache& cache) {
  constexpr double least_filling = 0.625;
  const std::uint64_t half_bytes = cache.space_bytes / 2 - cache.line_bytes;
  const double half = static_cast<double>(half_bytes) / cache.size_bytes;
  return cache.space_bytes > 0 && half >= least_filling ? half : cache.filling;
}

/// Searches for a filling, as a size may be a bracket and hashed sets fill unevenly.
std::string find_filling(JobRun& run, CoRunCache& cache) {
  constexpr double step = 1.5;
  constexpr int most_steps = 8;
  constexpr double much_missed = 0.15;
  cache.filling = std::min(cache.filling, most_filling(cache));
  const double first_filling = cache.filling;
  std::string first_obstacle = explain_length(cache);
  bool longer = true;
  for (int i = 0; i <= most_steps && explain_length(cache).empty(); ++i) {
    const std::string label = cache.name + " twice";
    const TwoChases two = try_two(run, label, {&cache, 0, 0}, {&cache, 0, second_list_bytes(cache)},
                                  draw_replicate(run, label, 0));
    if (two.obstacle().empty()) return {};
    const bool stays = most_missed(two.alone) <= much_missed;
    if (i == 0) {
      first_obstacle = two.obstacle();
      longer = stays;
    }
    if (longer != stays) break;
    cache.filling *= longer ? step : 1 / step;
  }
  cache.filling = first_filling;
  return first_obstacle;
}

}  // namespace

std::uint64_t CoRunCache::listed_lines() const {
  return static_cast<std::uint64_t>(filling * size_bytes / static_cast<double>(line_bytes)) + 1;
}

AccessShares count_shares(const CoRunCache& cache,
                          const std::vector<std::uint32_t>& window_cycles) {
  AccessShares shares;
  for (std::uint32_t window : window_cycles) {
    const double cycles = window - cache.chase.overhead_cycles;
    shares.missed += cycles > cache.miss_cycles;
    shares.held_before += cycles <= cache.inner_cycles;
  }
  const auto count = static_cast<double>(window_cycles.size());
  return {.missed = shares.missed / count, .held_before = shares.held_before / count};
}

std::vector<AccessShares> co_run(JobRun& run, const std::string& label,
                                 const std::vector<ListChase>& chases, const Draw& draw) {
  const ChaseSetup setup = common_setup(chases);
  ChaseProbe probe;
  probe.place = draw.place;
  probe.shared_carveout_bytes = setup.shared_carveout_bytes;
  std::uint64_t longest = 0;
  for (const ListChase& chase : chases) {
    ChaseLane& lane = probe.lanes.emplace_back(make_lane(chase, draw));
    longest = std::max<std::uint64_t>(longest, lane.offsets_bytes.size());
    probe.buffer_bytes = std::max(probe.buffer_bytes,
                                  std::ranges::max(lane.offsets_bytes) + access_bytes(lane.path));
  }
  probe.warmup_accesses = (longest <= short_list ? 2 : 1) * longest;
  probe.timed_accesses =
      std::min(std::max(longest, fewest_timed), recordable_with_list(setup, longest));
  probe.recorded_accesses = probe.timed_accesses;
  const Trace trace = run.ask(label, probe);
  std::vector<AccessShares> shares;
  for (std::size_t lane = 0; lane < chases.size(); ++lane) {
    shares.push_back(count_shares(*chases[lane].cache, trace.lanes.at(lane).window_cycles));
  }
  return shares;
}

std::uint64_t second_list_bytes(const CoRunCache& cache) {
  const std::uint64_t aligned_bytes = std::bit_ceil(cache.list_bytes());
  const bool fits =
      cache.space_bytes == 0 || aligned_bytes + cache.list_bytes() <= cache.space_bytes;
  return fits ? aligned_bytes : cache.list_bytes();
}

std::string TwoChases::obstacle() const {
  if (both.empty()) {
    return fmt::format("caches before it serve {:.0f} % of a chase that should fill it",
                       100 * most_held(alone));
  }
  if (both_lose(Loss::some)) return {};
  return fmt::format(
      "a chase that should fill it misses {:.0f} % alone, and {:.0f} % with a second chase on the "
      "same SM",
      100 * most_missed(alone), 100 * std::min(both[0].missed, both[1].missed));
}

TwoChases try_two(JobRun& run, const std::string& label, const ListChase& first,
                  const ListChase& second, const Draw& draw) {
  TwoChases two{.alone = {co_run(run, label, {first}, draw).front(),
                          co_run(run, label, {second}, draw).front()},
                .both = {}};
  if (most_held(two.alone) <= most_held_before)
    two.both = co_run(run, label, {first, second}, draw);
  return two;
}

std::string fit_lists(JobRun& run, CoRunCache& cache) {
  std::string obstacle;
  const auto refusal = refusal_of([&] { obstacle = find_filling(run, cache); });
  return refusal.value_or(obstacle);
}

}  // namespace sonde
