// Ranks of one node measure one after the other, and then together, while none of them may call
// MPI: by marks in the folder that all of them see. A mark is a file that appears once, written by
// the rank that took the step, or by one that passed it over: so all agree on who was passed over.
#pragma once

#include "fleet/rendezvous.hpp"
#include "trace/node_time.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// How long the others wait for a rank, and when its silence says that it is gone.
struct TurnLimits {
  double ready_s = 60;    // from one's own readiness to that of the last
  double start_s = 10;    // for a step that takes a rank no time, once it is its turn
  double turn_s = 30;     // for one turn
  double silence_s = 30;  // without a change of its sign of life
};

/// The longest that so many ranks may take from their readiness on, whatever becomes of them.
double longest_turns_s(const TurnLimits& limits, std::size_t ranks);

/// The way of one rank. Each step is taken at most once, in this order; a reason says why it is not
/// this rank's any more, and that there are no further ones.
class Turns {
 public:
  /// @param parts where `clear_turns` removed earlier marks
  /// @param job that the ranks take turns for
  /// @param ranks of the node, ascending, with `own`
  Turns(std::filesystem::path parts, std::string job, std::vector<int> ranks, int own,
        const TurnLimits& limits, Lookout watch);

  /// Shows that this rank is ready, waits until all others are and those before it have had their
  /// turn. @returns why it has none; empty: it is its turn
  std::string begin();

  /// @returns why others may have been at work at the same time; empty: none was
  std::string end();

  /// Waits until all have had their turn, and agrees on an instant shortly from now. All must take
  /// part.
  Appointment meet();

  /// What all spans have in common.
  Overlap compare(const TimeSpan& own);

 private:
  struct Mark {
    int writer = 0;
    TimeSpan span = {};
  };
  bool write(int rank, const char* step, const TimeSpan& span = {});
  std::optional<Mark> read(int rank, const char* step) const;
  std::optional<Mark> await(int rank, const char* step, double limit_s);
  std::optional<int> await_turns(const std::vector<int>& ranks);

  std::filesystem::path parts_;
  std::string job_;
  std::vector<int> ranks_;
  int own_;
  TurnLimits limits_;
  Lookout watch_;
  std::vector<int> absent_;  // others that were passed over, or left
};

/// Whatever this rank has not done yet for that job it will not do: nobody waits for it.
void leave_turns(const std::filesystem::path& parts, const std::string& job, int rank);

/// Removes the marks of an earlier run. By rank 0, before any rank works.
void clear_turns(const std::filesystem::path& parts);

}  // namespace sonde
