// Asks for losses, and checks before that chases in one cache disturb each other at all.
#include "jobs/sharing/scope.hpp"

#include "analysis/sharing.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

// Of longer lists a chase of every SM would take seconds: 64 Ki loads of an L2 last 10 ms.
constexpr std::uint64_t longest_list = 65536;

/// One try: SM 0 chases one list, others the other one.
class ScopeSearch {
 public:
  ScopeSearch(JobRun& run, const CoRunCache& cache, std::size_t number)
      : run_(run),
        cache_(cache),
        draw_(draw_co_run(run, cache.name + " scope", number)),
        own_base_bytes_(number % 2 == 0 ? 0 : cache.list_bytes()),
        other_base_bytes_(number % 2 == 0 ? cache.list_bytes() : 0) {}

  std::uint64_t probes() const { return probes_; }

  /// Why chases cannot tell who shares this cache; empty if they can.
  std::string find_obstacle() {
    const AccessShares own = ask({own_chase()}).front();
    const AccessShares other = ask({other_chase(0)}).front();
    own_alone_ = own.missed;
    other_alone_ = other.missed;
    if (std::max(own.held_before, other.held_before) > most_held_before) {
      return fmt::format("caches before it answer {:.0f} % of a chase that fills 0.7 of it",
                         100 * std::max(own.held_before, other.held_before));
    }
    const auto both = ask({own_chase(), other_chase(0)});
    if (both_lose(both)) return {};
    return fmt::format(
        "a chase that fills 0.7 of it misses {:.0f} % alone and {:.0f} % beside a second one on "
        "the same SM",
        100 * std::max(own.missed, other.missed), 100 * std::min(both[0].missed, both[1].missed));
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
  if (!again.find_obstacle().empty()) return false;
  const bool shared = sharers.empty() || again.disturbance_by(sharers) == Loss::some;
  return shared && (others.empty() || again.disturbance_by(others) == Loss::none);
}

void search(JobRun& run, const CoRunCache& cache, CacheSharing& sharing) {
  ScopeSearch first(run, cache, 0);
  sharing.reason = first.find_obstacle();
  sharing.overfills = sharing.reason.empty();
  sharing.probes = first.probes();
  if (!sharing.overfills) return;
  std::vector<int> others;
  for (int sm = 1; sm < run.info().sm_count; ++sm) others.push_back(sm);
  const Sharers sharers =
      find_sharers(others, [&](const std::vector<int>& sms) { return first.disturbance_by(sms); });
  sharing.probes = first.probes();
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

CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache) {
  CacheSharing sharing;
  if (run.info().sm_count < 2) {
    sharing.reason = "there is one SM";
  } else if (cache.listed_lines() > longest_list) {
    sharing.reason = fmt::format("it holds {} lines: chases of each SM would take seconds",
                                 cache.listed_lines());
  } else if (cache.space_bytes > 0 && 2 * cache.list_bytes() > cache.space_bytes) {
    sharing.reason = fmt::format("two chases cannot overfill it with {} of constants or code",
                                 format_bytes(static_cast<double>(cache.space_bytes)));
  }
  if (!sharing.reason.empty()) return sharing;
  const auto refusal = refusal_of([&] { search(run, cache, sharing); });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

}  // namespace sonde
