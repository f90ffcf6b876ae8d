// Two questions for each distance and each choice of the line that is moved.
#include "analysis/structure/sets/line_search.hpp"

#include <algorithm>

namespace sonde {
namespace {

// Lines of one set that are moved in turn: an outlier spoils one of them.
constexpr std::size_t most_choices = 9;

/// A line of the conflict, and what lies a distance from it: with all others of the conflict in
/// place of the line, and along with the line and all others but one. In one line with it the
/// former overflows and the latter fits; in another line of the set both overflow; in another set
/// neither.
struct Question {
  Lines in_its_place;
  Lines along_with_it;
};

enum class Direction { up, down };

Question question_about(const EvictionSet& conflict, std::size_t choice,
                        std::uint64_t distance_bytes, Direction direction) {
  const std::uint64_t line = conflict.lines[choice];
  const bool is_down = direction == Direction::down && line >= distance_bytes;
  const std::uint64_t moved = is_down ? line - distance_bytes : line + distance_bytes;
  Question question{conflict.lines, conflict.lines};
  question.in_its_place[choice] = moved;
  question.along_with_it[(choice + 1) % conflict.lines.size()] = moved;
  return question;
}

/// Share of the choices that say that the two are in one line.
double share_in_one_line(const EvictionSet& conflict, std::uint64_t distance_bytes,
                         const MissOracle& ask, Direction direction = Direction::up) {
  const std::size_t choices = std::min(conflict.lines.size(), most_choices);
  std::vector<Lines> lists;
  // A set of few lines is asked more often.
  const std::size_t votes = std::max(most_choices / choices, std::size_t{1}) * choices;
  for (std::size_t vote = 0; vote < votes; ++vote) {
    Question question = question_about(conflict, vote % choices, distance_bytes, direction);
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
  LineByConflicts line{.bytes = limit_bytes, .agreement = 1};
  for (std::uint64_t distance = fetch_bytes; distance < limit_bytes; distance *= 2) {
    const double in_one_line = share_in_one_line(conflict, distance, ask);
    line.agreement = std::min(line.agreement, std::max(in_one_line, 1 - in_one_line));
    if (in_one_line < 0.5) {
      line.bytes = distance;
      return line;
    }
  }
  // Down, as no line lies there behind the last one that may be asked for.
  const double beyond = share_in_one_line(conflict, limit_bytes, ask, Direction::down);
  line.agreement = std::min(line.agreement, 1 - beyond);
  return line;
}

}  // namespace sonde
