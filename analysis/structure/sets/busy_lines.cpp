// The missing lines of longer and longer prefixes, until they go on missing alone.
#include "analysis/structure/sets/busy_lines.hpp"

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

/// Four sets of eight ways, and one line more in each: the lines of two sets may come to rest, and
/// on an H200 31 lines of three sets did, after eight orders in which all had missed.
constexpr std::size_t fewest_lines = 36;
constexpr std::size_t most_lines = 256;

Lines missing_lines(const Lines& chased, const MissOracle& ask) {
  const MissCounts counts = ask(std::span(&chased, 1)).front();
  Lines missing;
  for (std::size_t i = 0; i < chased.size(); ++i) {
    if (misses_again(counts, i)) missing.push_back(chased[i]);
  }
  return missing;
}

/// Those of the lines that miss in every one of eight orders in a row, alone; the others came to
/// rest.
Lines lines_without_rest(Lines lines, const MissOracle& ask) {
  constexpr std::uint64_t orders = 8;
  constexpr std::uint64_t most_orders = 40;
  std::uint64_t in_a_row = 0;
  for (std::uint64_t order = 1; order <= most_orders && in_a_row < orders; ++order) {
    Lines missing = missing_lines(shuffled(lines, order), ask);
    in_a_row = missing.size() == lines.size() ? in_a_row + 1 : 0;
    lines = std::move(missing);
    if (lines.size() < fewest_lines) return {};
  }
  return in_a_row == orders ? lines : Lines{};
}

/// Of the others those that miss beside the busy lines: they lie in the same sets.
Lines lines_of_same_sets(const Lines& busy, const Lines& others, const MissOracle& ask) {
  // Few enough for no other set to be overfull.
  constexpr std::size_t at_once = 96;
  Lines same;
  for (std::size_t first = 0; first < others.size(); first += at_once) {
    Lines chased = busy;
    const Lines group = slice(others, first, at_once);
    chased.insert(chased.end(), group.begin(), group.end());
    const Lines missing = missing_lines(chased, ask);
    std::ranges::copy_if(missing, std::back_inserter(same), [&](std::uint64_t line) {
      return std::ranges::find(group, line) != group.end();
    });
  }
  return same;
}

}  // namespace

BusyLines find_busy_lines(const Lines& pool, std::size_t fitting_lines, const MissOracle& ask) {
  constexpr double growth = 1.03;
  for (std::size_t length = fitting_lines + 1; length < pool.size();
       length = static_cast<std::size_t>(static_cast<double>(length) * growth) + 1) {
    const Lines missing = missing_lines(slice(pool, 0, length), ask);
    if (missing.size() > most_lines) break;
    if (missing.size() < fewest_lines) continue;
    BusyLines busy{.lines = lines_without_rest(missing, ask), .others = {}, .reason = {}};
    if (busy.lines.empty()) continue;
    std::ranges::sort(busy.lines);
    Lines others;
    std::ranges::copy_if(pool, std::back_inserter(others), [&](std::uint64_t line) {
      return !std::ranges::binary_search(busy.lines, line);
    });
    busy.others = lines_of_same_sets(busy.lines, others, ask);
    std::ranges::sort(busy.others);
    return busy;
  }
  return {.lines = {}, .others = {}, .reason = "no lines of a few sets miss in every order"};
}

}  // namespace sonde
