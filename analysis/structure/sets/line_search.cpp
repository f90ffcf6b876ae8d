// Asks two questions for each distance and each line that is moved.
#include "analysis/structure/sets/line_search.hpp"

#include <algorithm>
#include <iterator>

namespace sonde {
namespace {

// At most this many lines of the set are moved in turn; an outlier spoils the answer of one.
constexpr std::size_t most_choices = 9;

/// Two lists about an address at some distance from a line of the conflict. `in_its_place` has the
/// address instead of the line; `along_with_it` has both, but misses one other line. In the same
/// line: the first list overflows, the second fits. In another line of the same set: both overflow.
/// In another set: none overflows.
struct Question {
  Lines in_its_place;
  Lines along_with_it;
};

Question question_about(const EvictionSet& conflict, std::size_t choice,
                        std::uint64_t distance_bytes) {
  const std::uint64_t moved = conflict.lines[choice] ^ distance_bytes;
  Question question{conflict.lines, conflict.lines};
  question.in_its_place[choice] = moved;
  question.along_with_it[(choice + 1) % conflict.lines.size()] = moved;
  return question;
}

/// Fraction of the answers by which the moved address lies in the same line.
double share_in_one_line(const EvictionSet& conflict, std::uint64_t distance_bytes,
                         const MissOracle& ask) {
  const std::size_t choices = std::min(conflict.lines.size(), most_choices);
  std::vector<Lines> lists;
  // If the conflict has few lines, ask about each several times.
  const std::size_t votes = std::max(most_choices / choices, std::size_t{1}) * choices;
  for (std::size_t vote = 0; vote < votes; ++vote) {
    Question question = question_about(conflict, vote % choices, distance_bytes);
    lists.push_back(std::move(question.in_its_place));
    lists.push_back(std::move(question.along_with_it));
  }
  const std::vector<MissCounts> answers = ask(lists);
  std::size_t in_one = 0;
  for (std::size_t vote = 0; vote < votes; ++vote) {
    in_one += overflows(answers[2 * vote]) && !overflows(answers[2 * vote + 1]);
  }
  return static_cast<double>(in_one) / static_cast<double>(votes);
}

}  // namespace

LineByConflicts find_line(const EvictionSet& conflict, std::uint64_t fetch_bytes,
                          std::uint64_t limit_bytes, const MissOracle& ask) {
  LineByConflicts line{.bytes = fetch_bytes, .agreement = 1};
  for (; line.bytes < limit_bytes; line.bytes *= 2) {
    const double in_one_line = share_in_one_line(conflict, line.bytes, ask);
    line.agreement = std::min(line.agreement, std::max(in_one_line, 1 - in_one_line));
    if (in_one_line < 0.5) break;
  }
  return line;
}

namespace {

/// Four sets of eight ways, each with one line too many. With fewer lines the misses may cease: on
/// an H200 31 lines of three sets did, after eight orders in which all had missed.
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

/// Repeats the chase until all lines that are left miss in eight orders in a row.
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

/// The lines of `others` that miss together with the busy lines: they lie in the same sets.
Lines lines_of_same_sets(const Lines& busy, const Lines& others, const MissOracle& ask) {
  // few enough that no other set overflows
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
    BusyLines busy{.lines = lines_without_rest(missing, ask)};
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
  return {};
}

}  // namespace sonde
