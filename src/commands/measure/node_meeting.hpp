// Lets the threads that measure the GPUs of a node first take turns, then work at the same time.
#pragma once

#include "jobs/suite.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <vector>

namespace sonde {

/// Leads the GPUs of a node through one job. A thread waits for all others; one that failed must
/// leave.
class NodeMeeting {
 public:
  explicit NodeMeeting(const std::vector<NodeGpu>& gpus);

  /// The turns of the GPU at this place. `this` must outlive them.
  /// @param on_poll called some twenty times a second while waiting; may throw to end the waiting
  NodeTurns turns_of(std::size_t place, const std::function<void()>& on_poll);

  /// The GPU does no further step, and no other GPU waits for it.
  void leave(std::size_t place);

 private:
  enum class Step { none, ready, ended, met, worked };
  struct Member {
    int rank = 0;
    Step step = Step::none;
    bool left = false;
  };
  void take(std::size_t place, Step step, const TimeSpan& span = {});
  std::optional<int> await(Step step, std::size_t count, const std::function<void()>& on_poll);

  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::vector<Member> members_;
  std::int64_t start_unix_ns_ = 0;                                // valid when all have met
  TimeSpan common_{0, std::numeric_limits<std::int64_t>::max()};  // valid when all have worked
};

}  // namespace sonde
