// Point-to-point messages and a clock: nobody can be held up by who does not come.
#include "fleet/rendezvous.hpp"

#include "base/error.hpp"
#include "mpi/collectives.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int done_tag = 7101;  // any two that nobody else uses
constexpr int answer_tag = 7102;
// Short against a run, long against a poll.
constexpr auto poll_pause = std::chrono::milliseconds(20);
constexpr auto sign_pause = std::chrono::milliseconds(500);  // signs of life are files
// Rank 0 needs this long to answer once it decided, on the slowest of networks.
constexpr Seconds answer_margin{30};

std::optional<MPI_Status> probe(MPI_Comm comm, int source, int tag) {
  int there = 0;
  MPI_Status status{};
  SONDE_MPI_CHECK(MPI_Iprobe(source, tag, comm, &there, &status));
  return there ? std::optional(status) : std::nullopt;
}

/// Rank 0's list: who came, and when each other one last showed life.
struct Register {
  std::vector<bool> came;
  std::vector<std::uint64_t> sign;
  std::vector<Clock::time_point> seen;

  explicit Register(std::size_t ranks)
      : came(ranks, false), sign(ranks, 0), seen(ranks, Clock::now()) {
    came[0] = true;
  }
  std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < came.size(); ++i) {
      if (!came[i]) ranks.push_back(static_cast<int>(i));
    }
    return ranks;
  }
};

void take_arrivals(MPI_Comm comm, Register& ranks) {
  while (const auto status = probe(comm, MPI_ANY_SOURCE, done_tag)) {
    SONDE_MPI_CHECK(
        MPI_Recv(nullptr, 0, MPI_INT, status->MPI_SOURCE, done_tag, comm, MPI_STATUS_IGNORE));
    ranks.came[static_cast<std::size_t>(status->MPI_SOURCE)] = true;
  }
}

bool all_silent(const Register& ranks, const std::vector<int>& missing, double silence_s) {
  return std::ranges::all_of(missing, [&](int rank) {
    return Clock::now() - ranks.seen[static_cast<std::size_t>(rank)] >= Seconds(silence_s);
  });
}

std::vector<int> wait_for_all(MPI_Comm comm, std::size_t size, const Patience& patience,
                              const std::function<std::uint64_t(int)>& sign_of_life,
                              const std::function<void()>& on_poll) {
  const auto start = Clock::now();
  auto next_signs = start;
  Register ranks(size);
  while (true) {
    take_arrivals(comm, ranks);
    const std::vector<int> missing = ranks.missing();
    if (missing.empty()) return {};
    if (sign_of_life && Clock::now() >= next_signs) {
      for (const int rank : missing) {
        const auto i = static_cast<std::size_t>(rank);
        const std::uint64_t sign = sign_of_life(rank);
        if (sign != ranks.sign[i]) ranks.seen[i] = Clock::now();
        ranks.sign[i] = sign;
      }
      next_signs = Clock::now() + sign_pause;
    }
    if (all_silent(ranks, missing, patience.silence_s) ||
        Clock::now() - start > Seconds(patience.total_s)) {
      return missing;
    }
    if (on_poll) on_poll();
    std::this_thread::sleep_for(poll_pause);
  }
}

/// Sends to the lost, too: one that comes late must not wait. Nobody waits for these sends; they
/// are small enough to leave at once, and their buffer lives as long as the process.
void send_answer(MPI_Comm comm, int size, const std::vector<int>& lost) {
  static std::vector<int> answer;
  answer = lost;
  for (int rank = 1; rank < size; ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    SONDE_MPI_CHECK(MPI_Isend(answer.data(), static_cast<int>(answer.size()), MPI_INT, rank,
                              answer_tag, comm, &request));
    if (lost.empty()) {
      SONDE_MPI_CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      int ignored = 0;
      SONDE_MPI_CHECK(MPI_Test(&request, &ignored, MPI_STATUS_IGNORE));
    }
  }
}

std::vector<int> await_answer(MPI_Comm comm, const Patience& patience) {
  const auto end = Clock::now() + Seconds(patience.total_s) + answer_margin;
  while (Clock::now() < end) {
    if (const auto status = probe(comm, 0, answer_tag)) {
      int count = 0;
      SONDE_MPI_CHECK(MPI_Get_count(&*status, MPI_INT, &count));
      std::vector<int> lost(static_cast<std::size_t>(count));
      SONDE_MPI_CHECK(
          MPI_Recv(lost.data(), count, MPI_INT, 0, answer_tag, comm, MPI_STATUS_IGNORE));
      return lost;
    }
    std::this_thread::sleep_for(poll_pause);
  }
  throw CommError(
      "rank 0 does not answer (it was lost, and with it the common file) run 'sonde merge' on the "
      ".parts folder: every other device's results are in there");
}

}  // namespace

Attendance rendezvous(MPI_Comm comm, const Patience& patience,
                      const std::function<std::uint64_t(int)>& sign_of_life,
                      const std::function<void()>& on_poll) {
  const int size = size_of(comm);
  if (rank_of(comm) == 0) {
    const auto lost =
        wait_for_all(comm, static_cast<std::size_t>(size), patience, sign_of_life, on_poll);
    send_answer(comm, size, lost);
    return {lost};
  }
  MPI_Request request = MPI_REQUEST_NULL;
  SONDE_MPI_CHECK(MPI_Isend(nullptr, 0, MPI_INT, 0, done_tag, comm, &request));
  Attendance attendance{await_answer(comm, patience)};
  // The message is gone or rank 0 is; either way nothing waits for it.
  if (attendance.complete()) SONDE_MPI_CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return attendance;
}

}  // namespace sonde
