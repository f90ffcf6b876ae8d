// Texts and outcomes between all ranks.
#include "mpi/collectives.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

namespace sonde {
namespace {

/// MPI counts in int; what ranks exchange here are names and sizes, far from that.
int int_size(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "a text is too long for MPI");
  return static_cast<int>(size);
}

/// The lowest number of all ranks; a rank that failed gives up after its patience.
int lowest(MPI_Comm comm, int mine, Outcome outcome, double patience_s) {
  using Clock = std::chrono::steady_clock;
  // Where patience ends, the reduction is still under way: its buffers outlive this call.
  auto numbers = std::make_unique<std::array<int, 2>>(std::array{mine, mine});
  MPI_Request request = MPI_REQUEST_NULL;
  SONDE_MPI_CHECK(
      MPI_Iallreduce(&numbers->at(0), &numbers->at(1), 1, MPI_INT, MPI_MIN, comm, &request));
  if (outcome == Outcome::ok) {
    SONDE_MPI_CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return numbers->at(1);
  }
  const auto start = Clock::now();
  int done = 0;
  while (!done) {
    SONDE_MPI_CHECK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done && std::chrono::duration<double>(Clock::now() - start).count() > patience_s) {
      static_cast<void>(numbers.release());
      throw CommError("the other ranks do not come back from the call that failed here");
    }
    if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return numbers->at(1);
}

}  // namespace

void check_mpi(int error_code, const char* call) {
  if (error_code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error_code, text.data(), &length);
  throw CommError(fmt::format("{} failed ({}) start the run again with --resume", call,
                              std::string(text.data(), static_cast<std::size_t>(length))));
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  SONDE_MPI_CHECK(MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  SONDE_MPI_CHECK(MPI_Comm_size(comm, &size));
  return size;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& text) {
  const auto count = static_cast<std::size_t>(size_of(comm));
  std::vector<int> lengths(count);
  const int length = int_size(text.size());
  SONDE_MPI_CHECK(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm));
  std::vector<int> offsets(count);
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = int_size(total);
    total += static_cast<std::size_t>(lengths[i]);
  }
  std::string all(static_cast<std::size_t>(int_size(total)), '\0');
  SONDE_MPI_CHECK(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(),
                                 offsets.data(), MPI_CHAR, comm));
  std::vector<std::string> texts(count);
  for (std::size_t i = 0; i < count; ++i) {
    texts[i] =
        all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]));
  }
  return texts;
}

std::string broadcast_text(MPI_Comm comm, std::string text, int root) {
  int length = int_size(text.size());
  SONDE_MPI_CHECK(MPI_Bcast(&length, 1, MPI_INT, root, comm));
  text.resize(static_cast<std::size_t>(length));
  SONDE_MPI_CHECK(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm));
  return text;
}

std::optional<std::string> first_failure(MPI_Comm comm, Outcome outcome, const std::string& reason,
                                         double patience_s) {
  const int ranks = size_of(comm);
  const int mine = outcome == Outcome::ok ? ranks : rank_of(comm);
  const int first = lowest(comm, mine, outcome, patience_s);
  if (first == ranks) return std::nullopt;
  return broadcast_text(comm, fmt::format("rank {} on {}: {}", first, host_name(), reason), first);
}

void agree(MPI_Comm comm, Outcome outcome, const std::string& reason) {
  if (const auto failure = first_failure(comm, outcome, reason)) throw AgreedError(*failure);
}

}  // namespace sonde
