// Processes that may die without harm to the rank: what touches a GPU runs in them. A rank must not
// fork once MPI runs, so it forks a keeper before, which holds neither MPI nor CUDA and forks the
// workers (docs/supervision.md).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace sonde {

/// What became of a worker: something it said, or its end.
struct WorkerEvent {
  std::string said{};
  bool ended = false;
  std::string end{};  // "ended with status 3", "was ended by signal 11 (Segmentation fault)"
  bool well = false;  // it ended with status 0
};

/// In a worker: tells the rank something, at most some 100 KB.
class RankLink {
 public:
  explicit RankLink(int socket) : socket_(socket) {}
  /// Waits until the rank's queue takes it.
  void say(const std::string& text) const;
  /// Drops it if the queue is full: a stopped rank must not hold up the measuring.
  void mention(const std::string& text) const;

 private:
  int socket_;
};

class Keeper {
 public:
  /// What a worker does with a task; its result is the exit status.
  using Work = std::function<int(const std::string& task, const RankLink& rank)>;

  /// Forks the keeper: before MPI, CUDA and any thread. It ends with the process that forked it,
  /// however that ends, and takes its worker along.
  /// @param limit as of bound_end, in force before the keeper could be told of one
  /// @throws Error if the system refuses
  explicit Keeper(const Work& work, std::optional<std::chrono::seconds> limit = {});
  /// Ends the worker; the keeper, too, unless it bounds the end of this process.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Starts a worker; the last one must have ended.
  void start(const std::string& task);

  /// SIGUSR1 to the worker: it stops at its next job border.
  void stop();
  /// SIGKILL to the worker. Its end is still an event.
  void kill();

  /// From now on this process has so long to end, or to call `unbound_end`: then the keeper kills
  /// it, even if it is stopped.
  void bound_end(std::chrono::seconds limit);
  void unbound_end();

  /// The next event, within `wait`; nothing if there was none. Once the keeper itself is gone,
  /// every call gives an end.
  std::optional<WorkerEvent> next(std::chrono::milliseconds wait);

 private:
  int socket_ = -1;
  int keeper_ = -1;  // its process
  bool bounded_ = false;
};

}  // namespace sonde
