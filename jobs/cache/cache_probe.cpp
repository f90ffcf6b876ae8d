// Turns lists of lines into chases on one or many SMs, and their latencies into counts of misses
// (for the search) or records of hits and misses (for the match of replacement policies).
#include "jobs/cache/cache_probe.hpp"

#include "analysis/structure/sets/line_pool.hpp"
#include "base/gpu_facts.hpp"
#include "base/random.hpp"
#include "jobs/cache/cache_evictors.hpp"
#include "jobs/cache/capacity.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace sonde {
namespace {

constexpr std::uint64_t spans_of_cache = 16;
// Random replacement needs some passes until lines of earlier probes are gone, and more until every
// line of an overfull set has missed twice.
constexpr std::uint64_t many_passes = 8;
constexpr std::uint64_t few_passes = 3;
constexpr std::uint64_t short_list = 4096;
constexpr std::size_t most_lanes = 256;
std::uint64_t passes_over(std::uint64_t length) {
  return length <= short_list ? many_passes : few_passes;
}

std::uint64_t memory_limit(const CacheUnderTest& cache) {
  return cache.space_bytes > 0 ? cache.space_bytes : cache.run.info().memory_bytes / 4;
}

/// A span that shows many more address bits than the number of sets needs; if possible within one
/// large page, because other physical pages may be used at each launch.
LinePool choose_pool(const CacheUnderTest& cache, std::uint64_t size_bytes,
                     std::uint64_t line_bytes) {
  // Twice as many lines of each set as ways lie in a large page: enough to overfill any set.
  constexpr std::uint64_t least_spans = 2;
  const std::uint64_t wanted = size_bytes * least_spans <= large_page_bytes
                                   ? large_page_bytes
                                   : std::bit_ceil(size_bytes * spans_of_cache);
  return {.line_bytes = line_bytes,
          .span_bytes = std::min(wanted, std::bit_floor(memory_limit(cache))),
          .cached_lines = size_bytes / line_bytes,
          .seed = derive_seed(cache.seed, "sets")};
}

/// Calls `ask` with groups of chases as lanes, one lane per SM, and the number of the first chase.
template <class Ask>
void in_groups(LoadPath path, const std::vector<int>& sms, const std::vector<Offsets>& chases,
               Ask&& ask) {
  for (std::size_t first = 0; first < chases.size(); first += sms.size()) {
    std::vector<ChaseLane> lanes;
    for (std::size_t i = first; i < std::min(first + sms.size(), chases.size()); ++i) {
      lanes.push_back({.sm = sms[i - first], .offsets_bytes = chases[i], .path = path});
    }
    ask(std::move(lanes), first);
  }
}

}  // namespace

CacheProbe::CacheProbe(const CacheUnderTest& cache, std::uint64_t size_bytes,
                       std::uint64_t line_bytes)
    : SetsProbe(cache.run,
                {.name = cache.name, .pool = choose_pool(cache, size_bytes, line_bytes)}),
      cache_(cache),
      size_bytes_(size_bytes),
      sms_{cache.chase.sm} {}

CacheProbe CacheProbe::at_place(Place place) const {
  CacheUnderTest moved = cache_;
  moved.chase.place = place;
  return of(moved, size_bytes_);
}

CacheProbe CacheProbe::of(const CacheUnderTest& cache, std::uint64_t size_bytes) const {
  CacheProbe probe(cache, size_bytes, pool().line_bytes);
  probe.sharing_sms_ = sharing_sms_;
  probe.sms_ = sms_;
  return probe;
}

std::optional<PassEvictors> CacheProbe::find_pass_evictors(std::uint64_t end_bytes) {
  if (!cache_.inner) return PassEvictors{};
  // More than three quarters of the cache would leave too little to search.
  auto lines = sonde::find_pass_evictors(cache_, pool().line_bytes, end_bytes, size_bytes_ / 4 * 3);
  if (!lines) return std::nullopt;
  PassEvictors evictors{.accessed = std::move(*lines)};
  evictors.co_resident = lines_under(evictors.accessed, pool().line_bytes);
  return evictors;
}

double CacheProbe::outlier_share() {
  if (!outlier_share_) outlier_share_ = measure_outlier_share(cache_, pool().line_bytes);
  return *outlier_share_;
}

/// Counts misses of chases of equal length over lists of equal length.
std::vector<MissCounts> CacheProbe::count_misses(std::vector<ChaseLane> lanes, std::size_t listed,
                                                 std::uint64_t warmup_passes,
                                                 std::uint64_t passes) {
  const std::uint64_t length = lanes.front().offsets_bytes.size();
  LaneChases chases{.lanes = std::move(lanes),
                    .warmup_accesses = warmup_passes * length,
                    .recorded_accesses = passes * length,
                    .most_at_once = recordable_with_list(cache_.chase, length),
                    .evidence = Evidence::of_a_search};
  accesses_ += chases.lanes.size() * (warmup_passes + passes) * length;
  const double outliers_per_pass = outlier_share() * static_cast<double>(listed);
  std::vector<MissCounts> answers;
  for (const std::vector<double>& cycles :
       record_lanes(run(), cache_.chase, cache_.name + " conflicts", std::move(chases))) {
    std::vector<bool> missed;
    for (double latency : cycles)
      missed.push_back(latency > cache_.threshold_cycles && latency <= cache_.ceiling_cycles);
    answers.push_back(count_misses_of(missed, listed, passes));
    answers.back().outliers_per_pass = outliers_per_pass;
  }
  return answers;
}

std::vector<MissCounts> CacheProbe::ask(std::span<const Lines> lists,
                                        const PassEvictors& pass_evictors) {
  std::map<std::size_t, std::vector<std::size_t>> by_length;
  for (std::size_t i = 0; i < lists.size(); ++i) by_length[lists[i].size()].push_back(i);
  std::vector<MissCounts> answers(lists.size());
  for (const auto& [length, numbers] : by_length) {
    std::vector<Offsets> chases;
    for (std::size_t i : numbers) {
      Offsets& chase = chases.emplace_back(lists[i]);
      chase.insert(chase.end(), pass_evictors.accessed.begin(), pass_evictors.accessed.end());
    }
    in_groups(
        cache_.chase.path, sms_, chases, [&](std::vector<ChaseLane> lanes, std::size_t first) {
          check_end();
          const std::uint64_t chased = lanes.front().offsets_bytes.size();
          for (MissCounts& counts :
               count_misses(std::move(lanes), length, passes_over(chased), passes_over(chased))) {
            answers[numbers[first++]] = std::move(counts);
          }
        });
  }
  return answers;
}

/// Whether one list per SM, each in memory of its own, overflows the cache of any SM.
bool CacheProbe::disturb_each_other(std::uint64_t lines, const PassEvictors& pass_evictors) {
  std::vector<Lines> lists;
  for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
    Lines& list = lists.emplace_back();
    for (std::uint64_t line = 0; line < lines; ++line) {
      list.push_back((sm * lines + line) * pool().line_bytes);
    }
  }
  const std::vector<MissCounts> answers = ask(lists, pass_evictors);
  return std::any_of(answers.begin(), answers.end(),
                     [](const MissCounts& counts) { return overflows(counts); });
}

void CacheProbe::spread_over_sms(const PassEvictors& pass_evictors) {
  constexpr double filling = 0.6;  // hashed sets overflow before the cache is full
  constexpr int widest_group = 4;  // SMs that share a first-level cache
  const std::uint64_t line_bytes = pool().line_bytes;
  const auto filled =
      static_cast<std::uint64_t>(filling * static_cast<double>(size_bytes_)) / line_bytes;
  // Two lists together with the shared evictors must not fit into one cache.
  const std::uint64_t shared = pass_evictors.co_resident.size();
  const std::uint64_t lines = filled - std::min(filled, shared / 2);
  const std::uint64_t end_bytes = shared > 0 ? pass_evictors.accessed.front() : cache_.end_bytes();
  for (int group = 1; group <= widest_group; ++group) {
    sms_.clear();
    for (int sm = 0; sm < run().info().sm_count && sms_.size() < most_lanes; sm += group) {
      if (!std::ranges::binary_search(cache_.odd_sms, sm)) sms_.push_back(sm);
    }
    if (sms_.size() < 2) break;
    const bool enough_memory = sms_.size() * lines * line_bytes <= end_bytes;
    if (enough_memory && !disturb_each_other(std::max<std::uint64_t>(1, lines), pass_evictors)) {
      sharing_sms_ = group;
      return;
    }
  }
  sharing_sms_ = 0;
  sms_ = {cache_.chase.sm};
}

/// First-level caches mostly use virtual addresses: lines of many pages show more bits of the
/// index.
std::optional<LinePool> CacheProbe::widen_pool(const SetFindings& found) const {
  constexpr std::size_t widest = 64;  // with more ways there are few sets, and few index bits
  if (cache_.chase.path == LoadPath::past_l1 || cache_.inner) return std::nullopt;
  if (!found.layout.conflict || found.layout.conflict->ways() > widest) return std::nullopt;
  LinePool wide = found.pool;
  wide.span_bytes =
      std::min(std::bit_ceil(size_bytes_ * spans_of_cache), std::bit_floor(memory_limit(cache_)));
  if (wide.span_bytes <= found.pool.span_bytes) return std::nullopt;
  return wide;
}

std::optional<Lines> CacheProbe::find_access_evictors(const SetFindings& found,
                                                      const Lines& lines) {
  if (!cache_.inner) return Lines{};
  const std::uint64_t set = set_of(found.layout.index, lines.front());
  return sonde::find_access_evictors(cache_, lines,
                                     lines_of_other_sets(found.layout.index, found.pool, set),
                                     [this] { check_end(); });
}

std::size_t CacheProbe::longest_record(std::size_t access_evictors) const {
  return longest_recorded_list(cache_.chase) / (1 + access_evictors);
}

/// All SMs, in groups in which no two SMs share the cache.
std::vector<std::vector<int>> CacheProbe::groups_apart() const {
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(std::max(1, sharing_sms_)));
  for (int sm = 0; sm < run().info().sm_count; ++sm) {
    groups[static_cast<std::size_t>(sm) % groups.size()].push_back(sm);
  }
  return groups;
}

std::vector<MissCounts> CacheProbe::ask_every_sm(const Lines& list) {
  std::vector<MissCounts> answers(static_cast<std::size_t>(run().info().sm_count));
  for (const std::vector<int>& sms : groups_apart()) {
    in_groups(cache_.chase.path, sms, std::vector<Offsets>(sms.size(), list),
              [&](std::vector<ChaseLane> lanes, std::size_t first) {
                for (MissCounts& counts :
                     count_misses(std::move(lanes), list.size(), few_passes, few_passes)) {
                  answers[static_cast<std::size_t>(sms[first++])] = std::move(counts);
                }
              });
  }
  return answers;
}

std::vector<AccessRecord> CacheProbe::record_on_every_sm(const Lines& lines,
                                                         const std::vector<std::uint16_t>& order) {
  std::vector<AccessRecord> records(static_cast<std::size_t>(run().info().sm_count));
  for (const std::vector<int>& sms : groups_apart()) {
    std::vector<AccessRecord> of_group = record_on(sms, lines, {}, std::vector(sms.size(), order));
    for (std::size_t i = 0; i < sms.size(); ++i) {
      records[static_cast<std::size_t>(sms[i])] = std::move(of_group[i]);
    }
  }
  return records;
}

/// Records each order on one SM, as many at once as there are SMs.
std::vector<AccessRecord> CacheProbe::record_on(const std::vector<int>& sms, const Lines& lines,
                                                const Lines& access_evictors,
                                                std::vector<std::vector<std::uint16_t>> orders) {
  const std::size_t step = 1 + access_evictors.size();
  std::vector<Offsets> chases;
  for (const auto& order : orders) {
    Offsets& chase = chases.emplace_back();
    for (std::uint16_t line : order) {
      chase.push_back(lines[line]);
      chase.insert(chase.end(), access_evictors.begin(), access_evictors.end());
    }
  }
  std::vector<AccessRecord> records;
  in_groups(cache_.chase.path, sms, chases, [&](std::vector<ChaseLane> lanes, std::size_t first) {
    check_end();
    accesses_ += lanes.size() * chases.front().size();
    const std::uint64_t length = chases.front().size();
    // Flushed, because the lines of the last chase would hit in a cache that outlives launches.
    LaneChases once{.lanes = std::move(lanes),
                    .recorded_accesses = length,
                    .most_at_once = length,
                    .preparation = Preparation::flushed};
    for (const std::vector<double>& cycles :
         record_lanes(run(), cache_.chase, cache_.name + " replacement", std::move(once))) {
      AccessRecord& record = records.emplace_back();
      record.lines = std::move(orders[first++]);
      // No ceiling here: each line lies in another page, and its translation may add to a miss.
      for (std::size_t at = 0; at < length; at += step) {
        record.missed.push_back(cycles[at] > cache_.threshold_cycles);
      }
    }
  });
  return records;
}

}  // namespace sonde
