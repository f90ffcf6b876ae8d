// The bounded end of measuring: ranks wait for each other without any collective that a lost rank
// could hold up.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sonde {

/// A rank is lost when it has neither come nor shown a sign of life for `silence_s`, or when
/// `total_s` are over.
struct Patience {
  double silence_s = 30;  // ranks show life every few seconds, whatever their GPUs do
  double total_s = 24 * 3600;
};

/// How a rank that waits sees the others, and shows that it is there itself.
struct Lookout {
  /// Any number that changes as long as that rank works.
  std::function<std::uint64_t(int rank)> sign_of_life{};
  /// Called some fifty times a second; may throw to end the waiting.
  std::function<void()> on_poll{};
};

struct Attendance {
  std::vector<int> lost;  // ranks; empty: everybody came, and collectives are safe
  bool complete() const { return lost.empty(); }
};

/// Every rank calls it when its measuring is over; the same answer for all who came in time. A rank
/// that comes too late finds itself among the lost; one that hears nothing of rank 0 finds that
/// lost. No collective is used.
/// @throws CommError if MPI fails
Attendance rendezvous(MPI_Comm comm, const Patience& patience, const Lookout& lookout = {});

/// A number that rank 0 sends to all others once it knows it; nothing if rank 0 was lost meanwhile.
/// @param number on rank 0: its result, which it gets back
/// @throws CommError if MPI fails
std::optional<int> hear_from_root(MPI_Comm comm, int number, const Patience& patience,
                                  const Lookout& lookout = {});

}  // namespace sonde
