// Worker processes, which do everything that touches a GPU and may die without harm to the rank. A
// rank must not fork while MPI runs, so before MPI starts it forks a keeper, which uses neither MPI
// nor CUDA and forks the workers (docs/supervision.md).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace sonde {

/// A message of a worker, or its end.
struct WorkerEvent {
  std::string said{};
  bool ended = false;
  std::string end{};  // "ended with status 3", "was ended by signal 11 (Segmentation fault)"
  bool well = false;  // it ended with status 0
};

/// In a worker: sends messages to the rank, at most some 100 KB each.
class RankLink {
 public:
  explicit RankLink(int socket) : socket_(socket) {}
  /// Waits until the rank's queue has room.
  void say(const std::string& text) const;
  /// Drops the text if the queue is full, so that a stopped rank does not delay measuring.
  void mention(const std::string& text) const;

 private:
  int socket_;
};

/// Starts, stops and hears workers, through the keeper process.
class Keeper {
 public:
  /// The work of a worker on a task; returns the exit status.
  using Work = std::function<int(const std::string& task, const RankLink& rank)>;

  /// Forks the keeper. Must come before MPI, CUDA and any thread. The keeper ends with the process
  /// that forked it, in whatever way that ends, and ends its worker.
  /// @param limit as in bound_end, for the time before bound_end can be called
  /// @throws Error if the system refuses
  explicit Keeper(const Work& work, std::optional<std::chrono::seconds> limit = {});
  /// Ends the worker, and the keeper unless it bounds the end of this process.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Starts a worker; the one before must have ended.
  void start(const std::string& task);

  /// Sends SIGUSR1 to the worker, which then stops after its current job.
  void stop();
  /// Sends SIGKILL to the worker. Its end is still reported as an event.
  void kill();

  /// This process must end within `limit` from now on, or call `unbound_end`; otherwise the keeper
  /// kills it, even if it is stopped.
  void bound_end(std::chrono::seconds limit);
  void unbound_end();

  /// The next event within `wait`, if any. If the keeper is gone, every call reports an end.
  std::optional<WorkerEvent> next(std::chrono::milliseconds wait);

 private:
  int socket_ = -1;
  int keeper_ = -1;  // process id
  bool bounded_ = false;
};

}  // namespace sonde
