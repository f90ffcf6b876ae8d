// Asks for losses, and checks before that chases in one cache disturb each other at all.
#include "jobs/sharing/scope.hpp"

#include "analysis/sharing.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace sonde {
namespace {

// Of longer lists a chase of every SM would take seconds: 64 Ki loads of an L2 last 10 ms.
constexpr std::uint64_t longest_list = 65536;

/// Where the second of two lists begins: at a power of two, so that an index of XORs spreads it
/// over as many sets as the first one, if there is room.
std::uint64_t second_list_bytes(const CoRunCache& cache) {
  const std::uint64_t aligned_bytes = std::bit_ceil(cache.list_bytes());
  const bool fits =
      cache.space_bytes == 0 || aligned_bytes + cache.list_bytes() <= cache.space_bytes;
  return fits ? aligned_bytes : cache.list_bytes();
}

/// What two chases on SM 0 missed.
struct Trial {
  double held_before = 0;
  double alone = 0;  // the more of the two
  double both = 0;   // the less of the two
  bool both_lose = false;

  /// Why chases cannot tell who shares this cache; empty if they can.
  std::string obstacle() const {
    if (held_before > most_held_before) {
      return fmt::format("caches before it answer {:.0f} % of a chase that is to fill it",
                         100 * held_before);
    }
    if (both_lose) return {};
    return fmt::format(
        "a chase that is to fill it misses {:.0f} % alone and {:.0f} % beside a second one on the "
        "same SM",
        100 * alone, 100 * both);
  }
};

/// One try: SM 0 chases one list, others the other one.
class ScopeSearch {
 public:
  ScopeSearch(JobRun& run, const CoRunCache& cache, std::size_t number)
      : run_(run),
        cache_(cache),
        draw_(draw_co_run(run, cache.name + " scope", number)),
        own_base_bytes_(number % 2 == 0 ? 0 : second_list_bytes(cache)),
        other_base_bytes_(number % 2 == 0 ? second_list_bytes(cache) : 0) {}

  std::uint64_t probes() const { return probes_; }

  /// Asks whether two chases on SM 0 disturb each other and one alone stays.
  Trial try_two() {
    const AccessShares own = ask({own_chase()}).front();
    const AccessShares other = ask({other_chase(0)}).front();
    own_alone_ = own.missed;
    other_alone_ = other.missed;
    Trial trial{.held_before = std::max(own.held_before, other.held_before),
                .alone = std::max(own.missed, other.missed)};
    if (trial.held_before > most_held_before) return trial;
    const auto both = ask({own_chase(), other_chase(0)});
    trial.both = std::min(both[0].missed, both[1].missed);
    trial.both_lose = both_lose(both);
    return trial;
  }

  /// What SM 0 loses beside all of these; of a single SM, whether both lose.
  Loss disturbance_by(const std::vector<int>& sms) {
    std::vector<ListChase> chases{own_chase()};
    for (int sm : sms) chases.push_back(other_chase(sm));
    const auto shares = ask(chases);
    const Loss own = judge_loss(own_alone_, shares.front().missed);
    if (sms.size() > 1 || own != Loss::some) return own;
    return both_lose(shares) ? Loss::some : Loss::unclear;
  }

 private:
  ListChase own_chase() const { return {&cache_, 0, own_base_bytes_}; }
  ListChase other_chase(int sm) const { return {&cache_, sm, other_base_bytes_}; }

  bool both_lose(const std::vector<AccessShares>& shares) const {
    return judge_loss(own_alone_, shares[0].missed) == Loss::some &&
           judge_loss(other_alone_, shares[1].missed) == Loss::some;
  }
  std::vector<AccessShares> ask(const std::vector<ListChase>& chases) {
    ++probes_;
    return co_run(run_, cache_.name + " scope", chases, draw_);
  }

  JobRun& run_;
  const CoRunCache& cache_;
  CoRunDraw draw_;
  std::uint64_t own_base_bytes_;
  std::uint64_t other_base_bytes_;
  double own_alone_ = 0;  // shares that each list misses when SM 0 alone chases it
  double other_alone_ = 0;
  std::uint64_t probes_ = 0;
};

/// Whether a second try sees the same: all sharers together disturb, all others together do not.
bool is_confirmed(ScopeSearch& again, const std::vector<int>& sharers,
                  const std::vector<int>& others) {
  if (!again.try_two().obstacle().empty()) return false;
  const bool shared = sharers.empty() || again.disturbance_by(sharers) == Loss::some;
  return shared && (others.empty() || again.disturbance_by(others) == Loss::none);
}

/// Why lists of this length cannot be asked; empty if they can.
std::string explain_length(const CoRunCache& cache) {
  if (cache.listed_lines() > longest_list) {
    return fmt::format("it holds {} lines: chases of each SM would take seconds",
                       cache.listed_lines());
  }
  if (cache.space_bytes > 0 && 2 * cache.list_bytes() > cache.space_bytes) {
    return fmt::format("two chases cannot overfill it with {} of constants or code",
                       format_bytes(static_cast<double>(cache.space_bytes)));
  }
  return {};
}

/// The first try with lists of which two disturb each other and one alone stays. They are made
/// longer or shorter for it: a size may be a bracket, and hashed sets fill unevenly. nullopt, with
/// the obstacle that the first lists met as reason, if there are none.
std::optional<ScopeSearch> fit_lists(JobRun& run, CoRunCache& cache, CacheSharing& sharing) {
  constexpr double step = 1.5;
  constexpr int most_steps = 8;
  constexpr double much_missed = 0.15;
  const double first_filling = cache.filling;
  bool longer = true;
  for (int i = 0; i <= most_steps && explain_length(cache).empty(); ++i) {
    ScopeSearch search(run, cache, 0);
    const Trial trial = search.try_two();
    sharing.overfills = trial.obstacle().empty();
    if (sharing.overfills) return search;
    sharing.probes += search.probes();
    const bool stays = trial.alone <= much_missed;
    if (i == 0) {
      sharing.reason = trial.obstacle();
      longer = stays;
    }
    if (longer != stays) break;
    cache.filling *= longer ? step : 1 / step;
  }
  cache.filling = first_filling;
  return std::nullopt;
}

void search(JobRun& run, CoRunCache& cache, CacheSharing& sharing) {
  auto first = fit_lists(run, cache, sharing);
  if (!first) return;
  sharing.reason.clear();
  std::vector<int> others;
  for (int sm = 1; sm < run.info().sm_count; ++sm) others.push_back(sm);
  const Sharers sharers =
      find_sharers(others, [&](const std::vector<int>& sms) { return first->disturbance_by(sms); });
  sharing.probes += first->probes();
  if (!sharers.unclear.empty()) {
    sharing.reason = fmt::format("{} of {} SMs neither disturb SM 0 clearly nor leave it alone",
                                 sharers.unclear.size(), others.size());
    return;
  }
  std::erase_if(others, [&](int sm) { return std::ranges::count(sharers.sms, sm) > 0; });
  ScopeSearch second(run, cache, 1);
  const bool confirmed = is_confirmed(second, sharers.sms, others);
  sharing.probes += second.probes();
  if (!confirmed) {
    sharing.reason = "a second try with other lists at another place did not see the same";
    return;
  }
  sharing.sms = sharers.sms;
  sharing.sms.insert(sharing.sms.begin(), 0);
  std::ranges::sort(sharing.sms);
}

}  // namespace

CacheSharing find_cache_sharing(JobRun& run, CoRunCache& cache) {
  CacheSharing sharing;
  sharing.reason = run.info().sm_count < 2 ? "there is one SM" : explain_length(cache);
  if (!sharing.reason.empty()) return sharing;
  const auto refusal = refusal_of([&] { search(run, cache, sharing); });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

}  // namespace sonde
