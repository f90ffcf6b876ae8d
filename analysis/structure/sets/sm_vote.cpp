#include "analysis/structure/sets/sm_vote.hpp"

#include <algorithm>

namespace sonde {

SmVote vote(const std::vector<std::vector<bool>>& answers, std::size_t least_disagreements) {
  // One SM in ten may be odd; where more differ from the rest, it is chance that they do.
  constexpr std::size_t most_odd_of = 10;
  constexpr std::size_t fewest_sms = 3;
  SmVote result;
  if (answers.size() < fewest_sms) return result;
  const std::size_t most_odd = std::max<std::size_t>(1, answers.size() / most_odd_of);
  std::vector<std::size_t> disagreements(answers.size());
  for (std::size_t question = 0; question < answers.front().size(); ++question) {
    const auto yes = static_cast<std::size_t>(
        std::ranges::count_if(answers, [&](const auto& of_sm) { return of_sm[question]; }));
    const bool usual = 2 * yes > answers.size();
    if ((usual ? answers.size() - yes : yes) > most_odd) continue;
    ++result.questions;
    for (std::size_t sm = 0; sm < answers.size(); ++sm) {
      disagreements[sm] += answers[sm][question] != usual;
    }
  }
  for (std::size_t sm = 0; sm < answers.size(); ++sm) {
    if (disagreements[sm] >= least_disagreements) result.odd_sms.push_back(static_cast<int>(sm));
  }
  return result;
}

}  // namespace sonde
