// Asks whose lines SM 0 finds, and checks before that it finds its own and no others. Of code that
// is fetched ahead, which of them disturb a chase.
#include "jobs/sharing/scope.hpp"

#include "jobs/run/attempt.hpp"
#include "jobs/run/clock_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace sonde {
namespace {

// What caches before this one hold tells nothing of it. The rest is enough to show that hits here
// are told from misses: if they were not, it alone would be too much to be missed.
constexpr double most_held_of_own = 0.75;
static_assert(1 - most_held_of_own > most_missed_of_own);

/// So many lines that SM 0 finds its own, and most of them in this cache, not in one before it:
/// fewer where some are lost (sets fill unevenly, a size is too large), more where others hold
/// them. With the reason where no number does.
struct Length {
  std::uint64_t lines = 0;
  std::string obstacle = {};
  std::uint64_t probes = 0;
};

Length fit_length(JobRun& run, const CoRunCache& cache) {
  constexpr std::uint64_t first_lines = 64;
  const std::uint64_t most_lines = LoadedLines::most_lines(cache);
  Length length{.lines = std::min(first_lines, most_lines)};
  bool is_longer = false;
  for (;;) {
    LoadedLines search(run, cache, length.lines, 0);
    const AccessShares own = search.try_own();
    length.probes += search.probes();
    const bool held = own.held_before > most_held_of_own;
    if (own.missed <= most_missed_of_own && !held) return length;
    const bool shorter = own.missed > most_missed_of_own;
    if (shorter ? is_longer || length.lines == 1 : length.lines == most_lines) {
      length.obstacle = fmt::format(
          "of {} lines that SM 0 has just loaded it misses {:.0f} % and finds {:.0f} % in caches "
          "before this one",
          length.lines, 100 * own.missed, 100 * own.held_before);
      return length;
    }
    is_longer = !shorter;
    length.lines = shorter ? length.lines / 2 : std::min(2 * length.lines, most_lines);
  }
}

/// Whether a second try sees the same: of all sharers together, and of all others together.
bool is_confirmed(ScopeSearch& again, const std::vector<int>& sharers,
                  const std::vector<int>& others) {
  if (!again.prepare().empty()) return false;
  const bool shared = sharers.empty() || again.found_of(sharers) == Found::all;
  return shared && (others.empty() || again.found_of(others) == Found::none);
}

/// @param try_number makes the first and the second try
void search(JobRun& run, CacheSharing& sharing,
            const std::function<std::unique_ptr<ScopeSearch>(std::size_t)>& try_number) {
  const auto first = try_number(1);
  sharing.reason = first->prepare();
  if (!sharing.reason.empty()) return;
  std::vector<int> others;
  for (int sm = 1; sm < run.info().sm_count; ++sm) others.push_back(sm);
  const Sharers sharers =
      find_sharers(others, [&](const std::vector<int>& sms) { return first->found_of(sms); });
  sharing.probes += first->probes();
  if (!sharers.unclear.empty()) {
    sharing.reason = fmt::format("of lines of {} of {} SMs SM 0 finds neither all nor none",
                                 sharers.unclear.size(), others.size());
    return;
  }
  std::erase_if(others, [&](int sm) { return std::ranges::count(sharers.sms, sm) > 0; });
  const auto second = try_number(2);
  const bool confirmed = is_confirmed(*second, sharers.sms, others);
  sharing.probes += second->probes();
  if (!confirmed) {
    sharing.reason = "a second try at another place did not see the same";
    return;
  }
  sharing.sms = sharers.sms;
  sharing.sms.insert(sharing.sms.begin(), 0);
  std::ranges::sort(sharing.sms);
}

void search_by_lines(JobRun& run, const CoRunCache& cache, CacheSharing& sharing) {
  const Length length = fit_length(run, cache);
  sharing.probes += length.probes;
  sharing.reason = length.obstacle;
  if (!sharing.reason.empty()) return;
  search(run, sharing, [&](std::size_t number) {
    return std::make_unique<LoadedLines>(run, cache, length.lines, number);
  });
}

/// Keeps the reason why lines tell nothing if chases do not either.
void search_by_chases(JobRun& run, CoRunCache cache, CacheSharing& sharing) {
  if (!fit_lists(run, cache).empty()) return;
  CacheSharing by_chases;
  search(run, by_chases,
         [&](std::size_t number) { return std::make_unique<DisturbedChase>(run, cache, number); });
  sharing.probes += by_chases.probes;
  if (by_chases.sms.empty()) return;
  sharing.sms = std::move(by_chases.sms);
  sharing.reason.clear();
}

}  // namespace

CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache) {
  CacheSharing sharing;
  if (run.info().sm_count < 2) {
    sharing.reason = "there is one SM";
    return sharing;
  }
  const auto refusal = refusal_of([&] {
    search_by_lines(run, cache, sharing);
    const bool is_code = cache.chase.path == LoadPath::instruction;
    if (sharing.sms.empty() && is_code) search_by_chases(run, cache, sharing);
  });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

namespace {

// New lines are the first to leave under some policies (RRIP), until old ones have aged: each SM
// goes round its list so often.
constexpr std::uint64_t passes = 4;
// So many loads of a question, or one outlier in a list of a few lines would count.
constexpr std::uint64_t fewest_loads = 64;

bool is_code(const CoRunCache& cache) { return cache.chase.path == LoadPath::instruction; }

/// What lists are taken from: all constants, or a part of the code. The rest of that is executed to
/// evict them.
std::uint64_t bytes_of_lists(const CoRunCache& cache) {
  constexpr std::uint64_t part_of_code = 4;
  return is_code(cache) ? cache.space_bytes / part_of_code : cache.space_bytes;
}

}  // namespace

LoadedLines::LoadedLines(JobRun& run, const CoRunCache& cache, std::uint64_t lines,
                         std::size_t number)
    : run_(run),
      cache_(cache),
      label_(fmt::format("{} scope, try {}", cache.name, number)),
      lines_(lines) {}

std::uint64_t LoadedLines::most_lines(const CoRunCache& cache) {
  if (cache.size_bytes == 0) return fewest_loads;  // not known
  const auto held =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(cache.size_bytes) / cache.line_bytes, 1);
  const std::uint64_t lines = std::min(held, longest_recorded_list(cache.chase) / passes);
  if (cache.space_bytes == 0) return lines;
  return std::min(lines, bytes_of_lists(cache) / cache.line_bytes);
}

/// From the top down, so that no stream is fetched ahead.
Offsets LoadedLines::next_list() {
  Offsets offsets = descending_order(lines_ * cache_.line_bytes, cache_.line_bytes);
  if (!is_code(cache_)) return offsets;
  if (new_lists_ == 0) {
    run_other_code();
    new_lists_ = bytes_of_lists(cache_) / (lines_ * cache_.line_bytes);
  }
  --new_lists_;
  for (std::uint64_t& offset : offsets) offset += new_lists_ * lines_ * cache_.line_bytes;
  return offsets;
}

/// On all SMs at once: what they hold then are blocks that no list takes.
void LoadedLines::run_other_code() {
  // Policies that protect old lines let go of few in each pass.
  constexpr double spans_of_cache = 4;
  const std::uint64_t first_bytes = bytes_of_lists(cache_);
  std::uint64_t other_bytes = cache_.space_bytes - first_bytes;
  if (cache_.size_bytes > 0) {
    other_bytes =
        std::min(other_bytes, static_cast<std::uint64_t>(spans_of_cache * cache_.size_bytes));
  }
  other_bytes -= other_bytes % access_bytes(cache_.chase.path);
  Offsets offsets = ascending_order(other_bytes, access_bytes(cache_.chase.path));
  for (std::uint64_t& offset : offsets) offset += first_bytes;
  ChaseProbe probe;
  probe.shared_carveout_bytes = cache_.chase.shared_carveout_bytes;
  probe.buffer_bytes = first_bytes + other_bytes;
  probe.timed_accesses = offsets.size();
  probe.lanes = lanes_of_all_sms(run_, cache_.chase.path, offsets);
  run_.ask(label_, probe);
  ++probes_;
}

AccessShares LoadedLines::load_once(const std::vector<int>& sms, std::uint64_t warmup_passes) {
  const Offsets offsets = next_list();
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
  window_cycles.resize(lines_);  // what it finds at first
  return count_shares(cache_, window_cycles);
}

AccessShares LoadedLines::load(const std::vector<int>& sms, std::uint64_t warmup_passes) {
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

AccessShares LoadedLines::try_own() {
  const AccessShares own = load({}, passes);
  missed_.own = own.missed;
  return own;
}

std::string LoadedLines::prepare() {
  try_own();
  missed_.fresh = load({}, 0).missed;  // that nobody has loaded
  if (tell_lines_apart(missed_)) return {};
  return fmt::format("of lines that SM 0 has just loaded it misses {:.0f} %, of new ones {:.0f} %",
                     100 * missed_.own, 100 * missed_.fresh);
}

Found LoadedLines::found_of(const std::vector<int>& sms) {
  return judge_found(missed_, load(sms, 0).missed);
}

DisturbedChase::DisturbedChase(JobRun& run, const CoRunCache& cache, std::size_t number)
    : run_(run),
      cache_(cache),
      label_(cache.name + " beside others"),
      draw_(draw_replicate(run, label_, number)),
      own_base_bytes_(number % 2 == 0 ? 0 : second_list_bytes(cache)),
      other_base_bytes_(number % 2 == 0 ? second_list_bytes(cache) : 0) {}

std::string DisturbedChase::prepare() {
  const TwoChases two = try_two(run_, label_, own_chase(), other_chase(0), draw_);
  probes_ += 3;
  own_alone_ = two.alone[0].missed;
  other_alone_ = two.alone[1].missed;
  return two.obstacle();
}

/// Of a single SM, both have to lose.
Found DisturbedChase::found_of(const std::vector<int>& sms) {
  std::vector<ListChase> chases{own_chase()};
  for (int sm : sms) chases.push_back(other_chase(sm));
  const auto shares = co_run(run_, label_, chases, draw_);
  ++probes_;
  const Loss own = judge_loss(own_alone_, shares.front().missed);
  if (own == Loss::none) return Found::none;
  const bool is_sure = sms.size() > 1 || judge_loss(other_alone_, shares[1].missed) == Loss::some;
  return own == Loss::some && is_sure ? Found::all : Found::unclear;
}

}  // namespace sonde
