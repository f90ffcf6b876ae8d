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
  std::vector<std::size_t> sorted = disagreements;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  const std::size_t usual = sorted[sorted.size() / 2];
  for (std::size_t sm = 0; sm < answers.size(); ++sm) {
    const bool stands_out =
        disagreements[sm] >= least_disagreements && disagreements[sm] > 4 * usual;
    if (stands_out) result.odd_sms.push_back(static_cast<int>(sm));
  }
  if (result.odd_sms.size() > most_odd) result.odd_sms.clear();
  return result;
}

}  // namespace sonde
