#include "mpi/collectives.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

namespace sonde {
namespace {

/// MPI counts with int. Ranks exchange only names and sizes here, which fit.
int int_size(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          "a text is too long for MPI");
  return static_cast<int>(size);
}

/// The lengths of the texts of all ranks, in the form that MPI needs.
struct Lengths {
  std::vector<int> of_each;
  std::vector<int> before_each;  // the sum over the ranks before it
  std::size_t total = 0;
};

Lengths gather_lengths(MPI_Comm comm, const std::string& text) {
  const auto count = static_cast<std::size_t>(size_of(comm));
  Lengths lengths{.of_each = std::vector<int>(count), .before_each = {}};
  const int own = int_size(text.size());
  SONDE_MPI_CHECK(MPI_Allgather(&own, 1, MPI_INT, lengths.of_each.data(), 1, MPI_INT, comm));
  for (const int length : lengths.of_each) {
    lengths.before_each.push_back(int_size(lengths.total));
    lengths.total += static_cast<std::size_t>(length);
  }
  int_size(lengths.total);
  return lengths;
}

/// Splits the joined texts of all ranks.
std::vector<std::string> split(const std::string& all, const Lengths& lengths) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.of_each.size(); ++i) {
    texts.push_back(all.substr(static_cast<std::size_t>(lengths.before_each[i]),
                               static_cast<std::size_t>(lengths.of_each[i])));
  }
  return texts;
}

/// The lowest number of all ranks. A rank that failed waits no longer than `patience_s`.
int lowest(MPI_Comm comm, int mine, Outcome outcome, double patience_s) {
  using Clock = std::chrono::steady_clock;
  // The buffers must outlive this call, since after the timeout the reduction is still active.
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

std::string node_name() {
  const char* slurm = std::getenv("SLURMD_NODENAME");
  if (slurm != nullptr && *slurm != '\0') return slurm;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::vector<std::string> gather_texts(MPI_Comm comm, const std::string& text) {
  const Lengths lengths = gather_lengths(comm, text);
  std::string all(lengths.total, '\0');
  SONDE_MPI_CHECK(MPI_Allgatherv(text.data(), int_size(text.size()), MPI_CHAR, all.data(),
                                 lengths.of_each.data(), lengths.before_each.data(), MPI_CHAR,
                                 comm));
  return split(all, lengths);
}

std::vector<std::string> gather_texts_on(int root, MPI_Comm comm, const std::string& text) {
  const bool here = rank_of(comm) == root;
  const Lengths lengths = gather_lengths(comm, text);
  std::string all(here ? lengths.total : 0, '\0');
  SONDE_MPI_CHECK(MPI_Gatherv(text.data(), int_size(text.size()), MPI_CHAR, all.data(),
                              lengths.of_each.data(), lengths.before_each.data(), MPI_CHAR, root,
                              comm));
  return here ? split(all, lengths) : std::vector<std::string>{};
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
  return broadcast_text(comm, fmt::format("rank {} on {}: {}", first, node_name(), reason), first);
}

void agree_after(MPI_Comm comm, const std::function<void()>& work,
                 const std::function<void()>& on_end) {
  Outcome outcome = Outcome::ok;
  std::string reason;
  try {
    work();
  } catch (const Error& error) {
    outcome = Outcome::failed;
    reason = error.what();
  }
  if (on_end) on_end();
  if (const auto failure = first_failure(comm, outcome, reason)) throw AgreedError(*failure);
}

}  // namespace sonde
