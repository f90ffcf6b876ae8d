// Distance of words: Damerau, CACM 1964, in the form that edits no letter twice.
#include "commands/suggest.hpp"

#include <algorithm>

namespace sonde {
namespace {

std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> steps(from.size() + 1,
                                              std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) steps[i][0] = i;
  for (std::size_t j = 0; j <= to.size(); ++j) steps[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t changed = from[i - 1] == to[j - 1] ? 0 : 1;
      steps[i][j] =
          std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + changed});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[from.size()][to.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest_word = 40;  // twice the longest option
  if (word.size() > longest_word) return "";
  std::string nearest;
  std::size_t least = std::min<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& one : known) {
    const std::size_t steps = distance(word, one);
    if (steps >= least) continue;
    least = steps;
    nearest = one;
  }
  return nearest;
}

}  // namespace sonde
