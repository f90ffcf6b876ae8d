// Uses point-to-point messages and a clock, so that a lost rank blocks no other.
#include "fleet/rendezvous.hpp"

#include "mpi/collectives.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>

namespace sonde {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int done_tag = 7101;  // any three tags that no other code uses
constexpr int answer_tag = 7102;
constexpr int text_tag = 7103;
// Short compared with a run, long compared with a poll.
constexpr auto arrival_pause = std::chrono::milliseconds(5);
constexpr auto sign_pause = std::chrono::seconds(1);  // longer, since signs of life are files
// Time that rank 0 needs to answer after its decision, on the slowest networks.
constexpr Seconds answer_margin{10};

std::optional<MPI_Status> probe(MPI_Comm comm, int source, int tag) {
  int there = 0;
  MPI_Status status{};
  SONDE_MPI_CHECK(MPI_Iprobe(source, tag, comm, &there, &status));
  return there ? std::optional(status) : std::nullopt;
}

/// When each rank last showed a sign of life.
class Signs {
 public:
  Signs(std::size_t ranks, const Lookout& lookout)
      : lookout_(lookout), sign_(ranks, 0), seen_(ranks, Clock::now()) {}

  void look_at(const std::vector<int>& ranks) {
    if (!lookout_.sign_of_life || Clock::now() < next_) return;
    for (const int rank : ranks) {
      const auto i = static_cast<std::size_t>(rank);
      const std::uint64_t sign = lookout_.sign_of_life(rank);
      if (sign != sign_[i]) seen_[i] = Clock::now();
      sign_[i] = sign;
    }
    next_ = Clock::now() + sign_pause;
  }
  bool silent(int rank, double silence_s) const {
    return Clock::now() - seen_[static_cast<std::size_t>(rank)] >= Seconds(silence_s);
  }

 private:
  const Lookout& lookout_;
  std::vector<std::uint64_t> sign_;
  std::vector<Clock::time_point> seen_;
  Clock::time_point next_{};
};

void pause(const Lookout& lookout) {
  if (lookout.on_poll) lookout.on_poll();
  std::this_thread::sleep_for(arrival_pause);
}

void take_arrivals(MPI_Comm comm, std::vector<int>& missing) {
  while (const auto status = probe(comm, MPI_ANY_SOURCE, done_tag)) {
    SONDE_MPI_CHECK(
        MPI_Recv(nullptr, 0, MPI_INT, status->MPI_SOURCE, done_tag, comm, MPI_STATUS_IGNORE));
    std::erase(missing, status->MPI_SOURCE);
  }
}

/// Waits on rank 0. @returns the ranks that did not come
std::vector<int> wait_for_all(MPI_Comm comm, int size, const Patience& patience,
                              const Lookout& lookout) {
  const auto end = Clock::now() + Seconds(patience.total_s);
  Signs signs(static_cast<std::size_t>(size), lookout);
  std::vector<int> missing;
  for (int rank = 1; rank < size; ++rank) missing.push_back(rank);
  while (true) {
    take_arrivals(comm, missing);
    if (missing.empty()) return {};
    signs.look_at(missing);
    const bool all_silent = std::ranges::all_of(
        missing, [&](int rank) { return signs.silent(rank, patience.silence_s); });
    if (all_silent || Clock::now() > end) return missing;
    pause(lookout);
  }
}

/// Sends to lost ranks too, so that a late one does not wait. A dead rank never receives, so nobody
/// waits for these sends, and their buffers are never freed.
void send_to_all(MPI_Comm comm, int tag, const std::string& text) {
  static std::deque<std::string> sent;
  const std::string& buffer = sent.emplace_back(text);
  for (int rank = 1; rank < size_of(comm); ++rank) {
    MPI_Request request = MPI_REQUEST_NULL;
    SONDE_MPI_CHECK(MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_CHAR, rank, tag,
                              comm, &request));
    int ignored = 0;
    SONDE_MPI_CHECK(MPI_Test(&request, &ignored, MPI_STATUS_IGNORE));
  }
}

/// Nothing if rank 0 is lost.
std::optional<std::string> await_root(MPI_Comm comm, int tag, const Patience& patience,
                                      const Lookout& lookout) {
  const auto end = Clock::now() + Seconds(patience.total_s) + answer_margin;
  Signs signs(1, lookout);
  while (Clock::now() < end) {
    if (const auto status = probe(comm, 0, tag)) {
      int count = 0;
      SONDE_MPI_CHECK(MPI_Get_count(&*status, MPI_CHAR, &count));
      std::string text(static_cast<std::size_t>(count), '\0');
      SONDE_MPI_CHECK(MPI_Recv(text.data(), count, MPI_CHAR, 0, tag, comm, MPI_STATUS_IGNORE));
      return text;
    }
    signs.look_at({0});
    if (lookout.sign_of_life && signs.silent(0, patience.silence_s)) return std::nullopt;
    pause(lookout);
  }
  return std::nullopt;
}

}  // namespace

Attendance rendezvous(MPI_Comm comm, const Patience& patience, const Lookout& lookout) {
  if (rank_of(comm) == 0) {
    const auto lost = wait_for_all(comm, size_of(comm), patience, lookout);
    send_to_all(comm, answer_tag, nlohmann::json(lost).dump());
    return {lost};
  }
  MPI_Request request = MPI_REQUEST_NULL;
  SONDE_MPI_CHECK(MPI_Isend(nullptr, 0, MPI_INT, 0, done_tag, comm, &request));
  SONDE_MPI_CHECK(MPI_Request_free(&request));  // it is sent at once, unless rank 0 is gone
  const auto answer = await_root(comm, answer_tag, patience, lookout);
  return {answer ? nlohmann::json::parse(*answer).get<std::vector<int>>() : std::vector{0}};
}

std::optional<std::string> hear_from_root(MPI_Comm comm, const std::string& text,
                                          const Patience& patience, const Lookout& lookout) {
  if (rank_of(comm) != 0) return await_root(comm, text_tag, patience, lookout);
  send_to_all(comm, text_tag, text);
  return text;
}

}  // namespace sonde
