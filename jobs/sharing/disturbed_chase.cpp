// Asks for losses, and checks before that chases in one cache disturb each other at all.
#include "jobs/sharing/disturbed_chase.hpp"

#include "jobs/sharing/overfill.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sonde {

DisturbedChase::DisturbedChase(JobRun& run, const CoRunCache& cache, std::size_t number)
    : run_(run),
      cache_(cache),
      draw_(draw_co_run(run, cache.name + " beside others", number)),
      own_base_bytes_(number % 2 == 0 ? 0 : second_list_bytes(cache)),
      other_base_bytes_(number % 2 == 0 ? second_list_bytes(cache) : 0) {}

std::string DisturbedChase::prepare() {
  own_alone_ = ask({own_chase()}).front().missed;
  other_alone_ = ask({other_chase(0)}).front().missed;
  const auto both = ask({own_chase(), other_chase(0)});
  if (both_lose(both)) return {};
  return fmt::format(
      "a chase that is to fill it misses {:.0f} % alone and {:.0f} % beside a second one on the "
      "same SM",
      100 * std::max(own_alone_, other_alone_), 100 * std::min(both[0].missed, both[1].missed));
}

/// Of a single SM, both have to lose.
Found DisturbedChase::found_of(const std::vector<int>& sms) {
  std::vector<ListChase> chases{own_chase()};
  for (int sm : sms) chases.push_back(other_chase(sm));
  const auto shares = ask(chases);
  const Loss own = judge_loss(own_alone_, shares.front().missed);
  if (own == Loss::none) return Found::none;
  const bool is_sure = sms.size() > 1 || both_lose(shares);
  return own == Loss::some && is_sure ? Found::all : Found::unclear;
}

bool DisturbedChase::both_lose(const std::vector<AccessShares>& shares) const {
  return judge_loss(own_alone_, shares[0].missed) == Loss::some &&
         judge_loss(other_alone_, shares[1].missed) == Loss::some;
}

std::vector<AccessShares> DisturbedChase::ask(const std::vector<ListChase>& chases) {
  ++probes_;
  return co_run(run_, cache_.name + " beside others", chases, draw_);
}

}  // namespace sonde
