// The GPUs of a node are measured by threads of one process: one after the other, and then at once.
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

/// The common way of those GPUs through one job. Each thread waits for all others until they leave:
/// one that has failed must do so.
class NodeMeeting {
 public:
  explicit NodeMeeting(const std::vector<NodeGpu>& gpus);

  /// The way of the GPU at this place; `this` must outlive it.
  /// @param on_poll called some twenty times a second while it waits; may throw to end the waiting
  NodeTurns turns_of(std::size_t place, const std::function<void()>& on_poll);

  /// Whatever the GPU has not done yet it will not do: no other one waits for it.
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

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<Member> members_;
  std::int64_t start_unix_ns_ = 0;                                // once all have met
  TimeSpan common_{0, std::numeric_limits<std::int64_t>::max()};  // once all have worked
};

}  // namespace sonde
