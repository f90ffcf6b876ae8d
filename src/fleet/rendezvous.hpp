// The meeting of ranks after measuring, without collectives, which a lost rank would block.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// Missing ranks are lost if none of them shows a sign of life for `silence_s`, or after `total_s`.
struct Patience {
  double silence_s = 30;  // ranks show life every few seconds, also while a GPU works
  double total_s = 24 * 3600;
};

/// How a waiting rank sees the other ranks, and shows its own life.
struct Lookout {
  /// Any number that changes while that rank works.
  std::function<std::uint64_t(int rank)> sign_of_life{};
  /// Called again and again; may throw to end the waiting.
  std::function<void()> on_poll{};
};

/// The result of a meeting.
struct Attendance {
  std::vector<int> lost;  // empty: all ranks came, and collectives are safe
  bool complete() const { return lost.empty(); }
};

/// Every rank calls it after measuring. All ranks that came in time get the same answer. A rank
/// that comes too late finds itself among the lost; a rank that hears nothing from rank 0 gets rank
/// 0 as lost. Uses no collective.
/// @throws CommError if MPI fails
Attendance rendezvous(MPI_Comm comm, const Patience& patience, const Lookout& lookout = {});

/// Sends a text from rank 0 to all others when rank 0 has it; nothing if rank 0 is lost.
/// @param text used on rank 0, which gets it back
/// @throws CommError if MPI fails
std::optional<std::string> hear_from_root(MPI_Comm comm, const std::string& text,
                                          const Patience& patience, const Lookout& lookout = {});

}  // namespace sonde
