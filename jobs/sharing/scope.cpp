// Asks whose lines SM 0 finds, and checks before that it finds its own and no others. Of code that
// is fetched ahead, which of them disturb a chase.
#include "jobs/sharing/scope.hpp"

#include "jobs/run/attempt.hpp"
#include "jobs/sharing/scope_search.hpp"

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

}  // namespace sonde
