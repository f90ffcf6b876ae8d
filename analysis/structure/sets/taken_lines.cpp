// All lines in short lists, several times in other company.
#include "analysis/structure/sets/taken_lines.hpp"

#include "base/random.hpp"

#include <map>

namespace sonde {
namespace {

std::vector<Lines> cut(const Lines& lines, std::size_t length) {
  std::vector<Lines> parts;
  for (std::size_t first = 0; first < lines.size(); first += length)
    parts.push_back(slice(lines, first, length));
  return parts;
}

Lines missing_lines(const std::vector<Lines>& lists, const MissOracle& ask) {
  const std::vector<MissCounts> answers = ask(lists);
  Lines missing;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      if (misses_again(answers[list], i)) missing.push_back(lists[list][i]);
    }
  }
  return missing;
}

}  // namespace

Lines find_taken_lines(const LinePool& space, const MissOracle& ask) {
  constexpr std::uint64_t surely_fitting = 8;    // of what co-resident lines leave, an eighth
  constexpr std::uint64_t most_lines = 1 << 15;  // half a second on a GPU
  constexpr std::uint64_t companies = 4;
  constexpr std::uint64_t enough = 3;  // inner caches may hide a line once
  constexpr std::size_t sampled_lists = 4;
  const std::uint64_t available = space.span_bytes / space.line_bytes;
  if (available > most_lines) return {};
  const std::uint64_t residents = space.co_resident.size();
  const std::uint64_t left = space.cached_lines - std::min(space.cached_lines, residents);
  const std::size_t at_once = std::max<std::size_t>(1, left / surely_fitting);
  const Lines lines = choose_lines(space, available, derive_seed(space.seed, "taken"));
  const Lines sample = slice(lines, 0, sampled_lists * at_once);
  if (missing_lines(cut(sample, at_once), ask).empty()) return {};
  std::map<std::uint64_t, std::uint64_t> missed;  // in how many companies
  for (std::uint64_t company = 1; company <= companies; ++company) {
    for (std::uint64_t line : missing_lines(cut(shuffled(lines, company), at_once), ask))
      ++missed[line];
  }
  Lines taken;
  for (const auto& [line, count] : missed) {
    if (count >= enough) taken.push_back(line);
  }
  return taken;
}

}  // namespace sonde
