// Builds the lists and lanes of chases beside each other, and counts what their windows say.
#include "jobs/sharing/co_run.hpp"

#include <algorithm>
#include <map>

namespace sonde {
namespace {

// Accesses of a short list are timed until there are so many, that single outliers do not count.
constexpr std::uint64_t fewest_timed = 256;
// Lists up to this length are gone round twice before anything is timed, longer ones once.
constexpr std::uint64_t short_list = 8192;

ChaseLane make_lane(const ListChase& chase, const CoRunDraw& draw) {
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

/// The setup of the chase with the smallest shared part: the L1 is then as it was found, and other
/// caches do not mind. Chases on one SM share what it records.
ChaseSetup common_setup(const std::vector<ListChase>& chases) {
  ChaseSetup setup = chases.front().cache->chase;
  for (const ListChase& chase : chases) {
    const ChaseSetup& own = chase.cache->chase;
    if (own.shared_carveout_bytes < setup.shared_carveout_bytes) setup = own;
  }
  setup.recordable_accesses /= most_chases_on_an_sm(chases);
  return setup;
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

CoRunDraw draw_co_run(const JobRun& run, std::string_view what, std::size_t number) {
  const Draw draw = draw_replicate(run, what, number);
  return {.place = draw.place, .seed = draw.seed};
}

std::vector<AccessShares> co_run(JobRun& run, const std::string& label,
                                 const std::vector<ListChase>& chases, const CoRunDraw& draw) {
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

}  // namespace sonde
