// Tests whose lines SM 0 hits, after checking that it hits its own lines and no new ones. For code:
// whose chases disturb the chase of SM 0.
#include "jobs/sharing/scope.hpp"

#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Of 64 or more loads of own lines few miss: outliers, and lines that a policy lost.
constexpr double most_missed_of_own = 0.15;
// Hits in inner caches say nothing about this cache. The remaining loads suffice to show that its
// hits are distinguished from misses: if all were misses, they would exceed most_missed_of_own.
constexpr double most_held_of_own = 0.75;
static_assert(1 - most_held_of_own > most_missed_of_own);
// New lines need not all miss, as a fetch may bring a neighbour. Lines of others behave like own
// lines or like new ones, within most_off of the difference between the two.
constexpr double least_difference = 0.5;
constexpr double most_off = 0.2;
// Some policies (RRIP) evict new lines first until old lines have aged. So each SM accesses its
// list this often.
constexpr std::uint64_t passes = 4;
// Fewer loads would let one outlier in a short list count.
constexpr std::uint64_t fewest_loads = 64;

/// How many of the lines that others have just loaded an SM finds in a cache.
enum class Found { none, unclear, all };

/// SMs whose lines SM 0 finds.
struct Sharers {
  std::vector<int> sms = {};      // in the order in which they were asked
  std::vector<int> unclear = {};  // neither found nor missed
};

/// Asks about some SMs and their halves. A group of which no line is found is not divided further.
/// @param search finds lines that all of these SMs have just loaded
template <class Try>
void find_sharers(const std::vector<int>& sms, Try& search, Sharers& sharers) {
  if (sms.empty()) return;
  const Found answer = search.found_of(sms);
  if (answer == Found::none) return;
  if (sms.size() == 1) {
    (answer == Found::all ? sharers.sms : sharers.unclear).push_back(sms.front());
    return;
  }
  const auto middle = sms.begin() + static_cast<std::ptrdiff_t>(sms.size() / 2);
  find_sharers({sms.begin(), middle}, search, sharers);
  find_sharers({middle, sms.end()}, search, sharers);
}

/// SM 0 loads lines that other SMs have just loaded, at another place for each question. SMs work
/// one after the other and never wait for each other, so that none disturbs the timed one.
class LoadedLines {
 public:
  /// @param cache outlives this  @param lines at most most_lines
  /// @param number of the try; chooses the place in memory
  LoadedLines(JobRun& run, const CoRunCache& cache, std::uint64_t lines, std::size_t number)
      : run_(run),
        cache_(cache),
        label_(fmt::format("{} scope, try {}", cache.name, number)),
        lines_(lines) {}

  /// The largest number of lines that may all stay in the cache.
  static std::uint64_t most_lines(const CoRunCache& cache) {
    if (cache.size_bytes == 0) return fewest_loads;  // not known
    const auto held =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(cache.size_bytes) / cache.line_bytes, 1);
    const std::uint64_t lines = std::min(held, longest_recorded_list(cache.chase) / passes);
    return cache.space_bytes == 0 ? lines : std::min(lines, cache.space_bytes / cache.line_bytes);
  }

  /// Shares of lines, just loaded by SM 0 itself, that SM 0 misses or hits in inner caches.
  /// @throws DeviceError, DeviceLostError
  AccessShares try_own() {
    const AccessShares own = load({}, passes);
    missed_own_ = own.missed;
    return own;
  }

  /// Why its answers would mean nothing; empty if they do not.
  std::string prepare() {
    try_own();
    missed_fresh_ = load({}, 0).missed;
    if (missed_own_ <= most_missed_of_own && missed_fresh_ - missed_own_ >= least_difference) {
      return {};
    }
    return fmt::format(
        "SM 0 misses {:.0f} % of the lines that it has just loaded, and {:.0f} % of lines that are "
        "new",
        100 * missed_own_, 100 * missed_fresh_);
  }

  /// Whether all of these SMs share the cache, or none. @pre prepare
  Found found_of(const std::vector<int>& sms) {
    const double place = (load(sms, 0).missed - missed_own_) / (missed_fresh_ - missed_own_);
    if (place <= most_off) return Found::all;
    return place >= 1 - most_off ? Found::none : Found::unclear;
  }

  std::uint64_t probes() const { return probes_; }

 private:
  AccessShares load(const std::vector<int>& sms, std::uint64_t warmup_passes) {
    const std::uint64_t times = (fewest_loads + lines_ - 1) / lines_;
    AccessShares sum;
    for (std::uint64_t i = 0; i < times; ++i) {
      const AccessShares shares = load_once(sms, warmup_passes);
      sum.missed += shares.missed;
      sum.held_before += shares.held_before;
    }
    const auto count = static_cast<double>(times);
    return {.missed = sum.missed / count, .held_before = sum.held_before / count};
  }

  AccessShares load_once(const std::vector<int>& sms, std::uint64_t warmup_passes) {
    // Descending, so that no stream is prefetched.
    const Offsets offsets = descending_order(lines_ * cache_.line_bytes, cache_.line_bytes);
    ChaseProbe probe;
    probe.place = draw_replicate(run_, label_, probes_).place;
    probe.shared_carveout_bytes = cache_.chase.shared_carveout_bytes;
    probe.buffer_bytes = offsets.front() + access_bytes(cache_.chase.path);
    probe.preparation = Preparation::flushed;
    probe.concurrency = Concurrency::in_turn;
    probe.warmup_accesses = warmup_passes * lines_;
    probe.timed_accesses = probe.recorded_accesses = passes * lines_;
    const auto add_lane = [&](int sm) {
      probe.lanes.push_back({.sm = sm, .offsets_bytes = offsets, .path = cache_.chase.path});
    };
    std::ranges::for_each(sms, add_lane);
    add_lane(0);
    Trace trace = run_.ask(label_, probe);
    ++probes_;
    std::vector<std::uint32_t>& window_cycles = trace.lanes.back().window_cycles;
    window_cycles.resize(lines_);  // only the first pass
    return count_shares(cache_, window_cycles);
  }

  JobRun& run_;
  const CoRunCache& cache_;
  std::string label_;
  std::uint64_t lines_;
  double missed_own_ = 0;    // share of the lines that SM 0 has just loaded itself
  double missed_fresh_ = 0;  // of lines that no SM has loaded
  std::uint64_t probes_ = 0;
};

/// SM 0 chases one of two lists, other SMs the other. Functions as in LoadedLines.
class DisturbedChase {
 public:
  /// @param cache two lists overfill it and one does not (fit_lists); outlives this
  /// @param number 1 and 2 swap the two lists
  DisturbedChase(JobRun& run, const CoRunCache& cache, std::size_t number)
      : run_(run),
        cache_(cache),
        label_(cache.name + " beside others"),
        draw_(draw_replicate(run, label_, number)),
        own_base_bytes_(number % 2 == 0 ? 0 : second_list_bytes(cache)),
        other_base_bytes_(number % 2 == 0 ? second_list_bytes(cache) : 0) {}

  std::string prepare() {
    const TwoChases two = try_two(run_, label_, own_chase(), other_chase(0), draw_);
    probes_ += 3;
    own_alone_ = two.alone[0].missed;
    other_alone_ = two.alone[1].missed;
    return two.obstacle();
  }

  /// Of a single other SM, both SMs must lose lines.
  Found found_of(const std::vector<int>& sms) {
    std::vector<ListChase> chases{own_chase()};
    for (int sm : sms) chases.push_back(other_chase(sm));
    const auto shares = co_run(run_, label_, chases, draw_);
    ++probes_;
    const Loss own = judge_loss(own_alone_, shares.front().missed);
    if (own == Loss::none) return Found::none;
    const bool is_sure = sms.size() > 1 || judge_loss(other_alone_, shares[1].missed) == Loss::some;
    return own == Loss::some && is_sure ? Found::all : Found::unclear;
  }

  std::uint64_t probes() const { return probes_; }

 private:
  ListChase own_chase() const { return {&cache_, 0, own_base_bytes_}; }
  ListChase other_chase(int sm) const { return {&cache_, sm, other_base_bytes_}; }

  JobRun& run_;
  const CoRunCache& cache_;
  std::string label_;
  Draw draw_;
  std::uint64_t own_base_bytes_;
  std::uint64_t other_base_bytes_;
  double own_alone_ = 0;  // share of the list that SM 0 misses when only it is chased
  double other_alone_ = 0;
  std::uint64_t probes_ = 0;
};

/// Whether a second try confirms the result, for all sharers together and all others together.
template <class Try>
bool is_confirmed(Try& again, const std::vector<int>& sharers, const std::vector<int>& others) {
  if (!again.prepare().empty()) return false;
  const bool shared = sharers.empty() || again.found_of(sharers) == Found::all;
  return shared && (others.empty() || again.found_of(others) == Found::none);
}

template <class Try>
void search(JobRun& run, CacheSharing& sharing, Try first, Try second) {
  sharing.reason = first.prepare();
  if (!sharing.reason.empty()) return;
  std::vector<int> others;
  for (int sm = 1; sm < run.info().sm_count; ++sm) others.push_back(sm);
  Sharers sharers;
  find_sharers(others, first, sharers);
  sharing.probes += first.probes();
  if (!sharers.unclear.empty()) {
    sharing.reason = fmt::format("SM 0 hits only some of the lines of {} of {} SMs",
                                 sharers.unclear.size(), others.size());
    return;
  }
  std::erase_if(others, [&](int sm) { return std::ranges::count(sharers.sms, sm) > 0; });
  const bool confirmed = is_confirmed(second, sharers.sms, others);
  sharing.probes += second.probes();
  if (!confirmed) {
    sharing.reason = "a second try at another place did not confirm it";
    return;
  }
  sharing.sms = sharers.sms;
  sharing.sms.insert(sharing.sms.begin(), 0);
  std::ranges::sort(sharing.sms);
}

/// A number of lines for which SM 0 hits its own lines, most of them in this cache. Shorter if
/// lines are lost (uneven sets, a size that is too large), longer if inner caches hold them. 0,
/// with the reason, if no number does.
std::uint64_t fit_length(JobRun& run, const CoRunCache& cache, CacheSharing& sharing) {
  constexpr std::uint64_t first_lines = 64;
  const std::uint64_t most_lines = LoadedLines::most_lines(cache);
  std::uint64_t lines = std::min(first_lines, most_lines);
  bool is_longer = false;
  for (;;) {
    LoadedLines search(run, cache, lines, 0);
    const AccessShares own = search.try_own();
    sharing.probes += search.probes();
    const bool held = own.held_before > most_held_of_own;
    if (own.missed <= most_missed_of_own && !held) return lines;
    const bool shorter = own.missed > most_missed_of_own;
    if (shorter ? is_longer || lines == 1 : lines == most_lines) {
      sharing.reason = fmt::format(
          "of {} lines that SM 0 has just loaded, it misses {:.0f} %, and hits {:.0f} % in caches "
          "before this one",
          lines, 100 * own.missed, 100 * own.held_before);
      return 0;
    }
    is_longer = !shorter;
    lines = shorter ? lines / 2 : std::min(2 * lines, most_lines);
  }
}

void search_by_lines(JobRun& run, const CoRunCache& cache, CacheSharing& sharing) {
  const std::uint64_t lines = fit_length(run, cache, sharing);
  if (lines == 0) return;
  search(run, sharing, LoadedLines(run, cache, lines, 1), LoadedLines(run, cache, lines, 2));
}

void search_by_chases(JobRun& run, const CoRunCache& known, CacheSharing& sharing) {
  CoRunCache cache = known;
  sharing.reason = fit_lists(run, cache);
  if (!sharing.reason.empty()) return;
  search(run, sharing, DisturbedChase(run, cache, 1), DisturbedChase(run, cache, 2));
}

}  // namespace

CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache) {
  if (run.info().sm_count < 2) return {.sms = {}, .reason = "there is one SM"};
  CacheSharing sharing;
  const auto refusal = refusal_of([&] {
    const bool is_code = cache.chase.path == LoadPath::instruction;
    (is_code ? search_by_chases : search_by_lines)(run, cache, sharing);
  });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

}  // namespace sonde
