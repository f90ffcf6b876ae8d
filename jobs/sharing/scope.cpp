// Asks whose lines SM 0 finds, and checks before that it finds its own and no others.
#include "jobs/sharing/scope.hpp"

#include "analysis/sharing.hpp"
#include "jobs/run/attempt.hpp"
#include "jobs/sharing/loaded_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// What caches before this one hold tells nothing of it. The rest is enough to show that hits here
// are told from misses: if they were not, it alone would be too much to be missed.
constexpr double most_held_of_own = 0.75;
static_assert(1 - most_held_of_own > most_missed_of_own);

/// One try, with lists of so many lines.
class ScopeSearch {
 public:
  ScopeSearch(JobRun& run, const CoRunCache& cache, std::uint64_t lines, std::size_t number)
      : lines_(run, cache, lines, number) {}

  std::uint64_t probes() const { return lines_.probes(); }

  /// What SM 0 finds of its own lines.
  AccessShares try_own() {
    const AccessShares own = lines_.own();
    missed_.own = own.missed;
    return own;
  }

  /// Why lines of others would tell nothing; empty if they do. @pre try_own
  std::string try_fresh() {
    missed_.fresh = lines_.missed_of({});
    if (tell_lines_apart(missed_)) return {};
    return fmt::format(
        "of lines that SM 0 has just loaded it misses {:.0f} %, of new ones {:.0f} %",
        100 * missed_.own, 100 * missed_.fresh);
  }

  /// What SM 0 finds of lines that all of these have just loaded.
  Found found_of(const std::vector<int>& sms) {
    return judge_found(missed_, lines_.missed_of(sms));
  }

 private:
  LoadedLines lines_;
  MissedShares missed_;
};

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
    ScopeSearch search(run, cache, length.lines, 0);
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

/// Whether a second try sees the same: lines of all sharers together, none of all others together.
bool is_confirmed(ScopeSearch& again, const std::vector<int>& sharers,
                  const std::vector<int>& others) {
  again.try_own();
  if (!again.try_fresh().empty()) return false;
  const bool shared = sharers.empty() || again.found_of(sharers) == Found::all;
  return shared && (others.empty() || again.found_of(others) == Found::none);
}

void search(JobRun& run, const CoRunCache& cache, CacheSharing& sharing) {
  const Length length = fit_length(run, cache);
  sharing.probes += length.probes;
  sharing.reason = length.obstacle;
  if (!sharing.reason.empty()) return;
  ScopeSearch first(run, cache, length.lines, 1);
  first.try_own();
  sharing.reason = first.try_fresh();
  if (!sharing.reason.empty()) return;
  std::vector<int> others;
  for (int sm = 1; sm < run.info().sm_count; ++sm) others.push_back(sm);
  const Sharers sharers =
      find_sharers(others, [&](const std::vector<int>& sms) { return first.found_of(sms); });
  sharing.probes += first.probes();
  if (!sharers.unclear.empty()) {
    sharing.reason = fmt::format("of lines of {} of {} SMs SM 0 finds neither all nor none",
                                 sharers.unclear.size(), others.size());
    return;
  }
  std::erase_if(others, [&](int sm) { return std::ranges::count(sharers.sms, sm) > 0; });
  ScopeSearch second(run, cache, length.lines, 2);
  const bool confirmed = is_confirmed(second, sharers.sms, others);
  sharing.probes += second.probes();
  if (!confirmed) {
    sharing.reason = "a second try at another place did not see the same";
    return;
  }
  sharing.sms = sharers.sms;
  sharing.sms.insert(sharing.sms.begin(), 0);
  std::ranges::sort(sharing.sms);
}

}  // namespace

CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache) {
  CacheSharing sharing;
  if (run.info().sm_count < 2) {
    sharing.reason = "there is one SM";
    return sharing;
  }
  const auto refusal = refusal_of([&] { search(run, cache, sharing); });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

}  // namespace sonde
