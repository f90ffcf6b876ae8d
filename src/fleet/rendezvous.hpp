// The bounded end of measuring: rank 0 learns who came, without any collective that a lost rank
// could hold up.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace sonde {

/// A rank is lost when it has neither come nor shown a sign of life for `silence_s`, or when
/// `total_s` are over. Both count from rank 0's arrival.
struct Patience {
  double silence_s = 120;  // several times the longest probe, which are bounded to seconds
  double total_s = 6 * 3600;
};

struct Attendance {
  std::vector<int> lost;  // ranks; empty: everybody came, and collectives are safe
  bool complete() const { return lost.empty(); }
};

/// Every rank calls it when its measuring is over; the same answer for all who came in time. A rank
/// that comes too late finds itself among the lost. No collective is used.
/// @param sign_of_life on rank 0: any number that changes as long as that rank works
/// @param on_poll on rank 0: called a few times a second while it waits
/// @throws CommError if MPI fails, or rank 0 does not answer
Attendance rendezvous(MPI_Comm comm, const Patience& patience,
                      const std::function<std::uint64_t(int rank)>& sign_of_life = {},
                      const std::function<void()>& on_poll = {});

}  // namespace sonde
