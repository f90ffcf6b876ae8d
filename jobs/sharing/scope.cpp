// Asks for losses, and checks before that chases in one cache disturb each other at all.
#include "jobs/sharing/scope.hpp"

#include "analysis/sharing.hpp"
#include "base/random.hpp"
#include "base/units.hpp"
#include "jobs/run/attempt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr std::size_t draws = 2;
// Of longer lists a chase of every SM would take seconds: 64 Ki loads of an L2 last 10 ms.
constexpr std::uint64_t longest_list = 65536;
// A chase that finds so many of its lines in the caches before the one in question is no chase
// through that one.
constexpr double most_held_before = 0.25;
// One array has one size: sizes found through two paths differ by less.
constexpr double most_size_ratio = 1.5;

CoRunDraw draw_co_run(const JobRun& run, const std::string& what, std::size_t number) {
  const Draw draw = draw_replicate(run, what, number);
  return {.place = draw.place, .seed = draw.seed};
}

std::uint64_t list_bytes(const CoRunCache& cache) {
  return cache.listed_lines() * cache.line_bytes;
}

/// One try: SM 0 chases one list, others the other one.
class ScopeSearch {
 public:
  ScopeSearch(JobRun& run, const CoRunCache& cache, std::size_t number)
      : run_(run),
        cache_(cache),
        draw_(draw_co_run(run, cache.name + " scope", number)),
        own_base_bytes_(number % 2 == 0 ? 0 : list_bytes(cache)),
        other_base_bytes_(number % 2 == 0 ? list_bytes(cache) : 0) {}

  std::uint64_t probes() const { return probes_; }

  /// Why chases cannot tell who shares this cache; empty if they can.
  std::string find_obstacle() {
    const AccessShares own = ask({own_chase()}).front();
    const AccessShares other = ask({other_chase(0)}).front();
    alone_ = own.missed;
    if (std::max(own.held_before, other.held_before) > most_held_before) {
      return fmt::format("caches before it answer {:.0f} % of a chase that fills 0.7 of it",
                         100 * std::max(own.held_before, other.held_before));
    }
    const auto both = ask({own_chase(), other_chase(0)});
    if (judge_loss(alone_, both[0].missed) == Loss::some &&
        judge_loss(other.missed, both[1].missed) == Loss::some) {
      return {};
    }
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
    const Loss own = judge_loss(alone_, shares.front().missed);
    if (sms.size() > 1 || own != Loss::some) return own;
    const double alone = ask({other_chase(sms.front())}).front().missed;
    return judge_loss(alone, shares.back().missed) == Loss::some ? Loss::some : Loss::unclear;
  }

 private:
  ListChase own_chase() const { return {&cache_, 0, own_base_bytes_}; }
  ListChase other_chase(int sm) const { return {&cache_, sm, other_base_bytes_}; }

  std::vector<AccessShares> ask(const std::vector<ListChase>& chases) {
    ++probes_;
    return co_run(run_, cache_.name + " scope", chases, draw_);
  }

  JobRun& run_;
  const CoRunCache& cache_;
  CoRunDraw draw_;
  std::uint64_t own_base_bytes_;
  std::uint64_t other_base_bytes_;
  double alone_ = 0;
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
    sharing.reason = "a second try with other lists at another place saw other SMs share it";
    return;
  }
  sharing.sms = sharers.sms;
  sharing.sms.insert(sharing.sms.begin(), 0);
  std::ranges::sort(sharing.sms);
}

/// Two chases on SM 0, each alone and both at once.
struct PairShares {
  std::vector<AccessShares> alone;
  std::vector<AccessShares> both;

  Loss loss(std::size_t chase) const { return judge_loss(alone[chase].missed, both[chase].missed); }
  bool both_lose(Loss loss_of_each) const {
    return loss(0) == loss_of_each && loss(1) == loss_of_each;
  }
};

PairShares chase_beside(JobRun& run, const CoRunCache& one, const CoRunCache& other,
                        std::size_t number) {
  const std::string label = one.name + " beside " + other.name;
  const CoRunDraw draw = draw_co_run(run, label, number);
  // Both may read global memory: lists of different lines.
  const std::uint64_t step_bytes = other.line_bytes;
  const std::uint64_t behind_bytes = (list_bytes(one) + step_bytes - 1) / step_bytes * step_bytes;
  const ListChase first{&one, 0, 0};
  const ListChase second{&other, 0, other.space_bytes > 0 ? 0 : behind_bytes};
  return {.alone = {co_run(run, label, {first}, draw).front(),
                    co_run(run, label, {second}, draw).front()},
          .both = co_run(run, label, {first, second}, draw)};
}

ArrayVerdict judge_pairs(const std::vector<PairShares>& tries) {
  constexpr std::uint64_t probes_of_try = 3;
  ArrayVerdict verdict{.probes = probes_of_try * tries.size(), .confidence = 0.99};
  const auto all = [&](Loss loss) {
    return std::ranges::all_of(tries, [&](const PairShares& pair) { return pair.both_lose(loss); });
  };
  const auto held = [](const PairShares& pair) {
    return std::max(pair.alone[0].held_before, pair.alone[1].held_before) > most_held_before;
  };
  if (std::ranges::any_of(tries, held)) {
    verdict.reason = "caches before them answer many of the accesses";
  } else if (all(Loss::some) || all(Loss::none)) {
    verdict.one_array = all(Loss::some);
  } else {
    const PairShares& pair = tries.front();
    verdict.reason = fmt::format(
        "chases of them miss {:.0f} and {:.0f} % alone, {:.0f} and {:.0f} % beside each other",
        100 * pair.alone[0].missed, 100 * pair.alone[1].missed, 100 * pair.both[0].missed,
        100 * pair.both[1].missed);
  }
  return verdict;
}

}  // namespace

CacheSharing find_cache_sharing(JobRun& run, const CoRunCache& cache) {
  CacheSharing sharing;
  if (run.info().sm_count < 2) {
    sharing.reason = "there is one SM";
  } else if (cache.listed_lines() > longest_list) {
    sharing.reason = fmt::format("it holds {} lines: chases of each SM would take seconds",
                                 cache.listed_lines());
  } else if (cache.space_bytes > 0 && 2 * list_bytes(cache) > cache.space_bytes) {
    sharing.reason = fmt::format("two chases cannot overfill it with {} of constants or code",
                                 format_bytes(static_cast<double>(cache.space_bytes)));
  }
  if (!sharing.reason.empty()) return sharing;
  const auto refusal = refusal_of([&] { search(run, cache, sharing); });
  if (refusal) sharing.reason = *refusal;
  return sharing;
}

ArrayVerdict compare_arrays(JobRun& run, const CoRunCache& one, const CoRunCache& other) {
  const auto [smaller, larger] = std::minmax(one.size_bytes, other.size_bytes);
  if (larger > most_size_ratio * smaller) {
    return {.one_array = false,
            .reason = fmt::format("of {} and {}: one array has one size",
                                  format_bytes(one.size_bytes), format_bytes(other.size_bytes)),
            .confidence = 0.95};
  }
  std::vector<PairShares> tries;
  const auto refusal = refusal_of([&] {
    for (std::size_t number = 0; number < draws; ++number) {
      tries.push_back(chase_beside(run, one, other, number));
    }
  });
  if (refusal) return {.reason = *refusal};
  return judge_pairs(tries);
}

}  // namespace sonde
