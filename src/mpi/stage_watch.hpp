// Sets deadlines for what ranks do together: if a rank is missing in a collective call, the call
// returns on no rank, and MPI itself never ends it (docs/supervision.md).
#pragma once

#include "base/exit_status.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace sonde {

/// A watched stage.
struct Stage {
  std::string name;                       // "writing the run file"
  ExitStatus status = ExitStatus::error;  // of the process, if the watch ends it
  double limits = 1;                      // the deadline, as a multiple of StageWatch's limit
  /// Called on the watch's thread before the process ends; its result replaces `status`.
  std::function<ExitStatus()> rescue{};
};

/// Watches stages from its own thread. A stage is overdue if it lasts longer than the limit, if it
/// goes on for some seconds after SIGTERM or SIGINT, or if the launcher is gone. Then the watch
/// logs it, calls the stage's rescue and ends the process, with MPI_Abort for all ranks if MPI
/// runs. Other calls of the watch then wait, since the rescue may use objects of the callers.
class StageWatch {
 public:
  /// @param limit_s for each stage, or for each of its steps
  /// @param urgent_limit_s for a stage after such a signal: enough to finish a short stage, and
  /// less than the 30 s that Slurm allows
  explicit StageWatch(double limit_s, double urgent_limit_s = 15);
  ~StageWatch();
  StageWatch(const StageWatch&) = delete;
  StageWatch& operator=(const StageWatch&) = delete;

  /// Begins a stage and ends the one before.
  void enter(Stage stage);
  /// Begins the next step of the same stage.
  void step();
  /// Ends the stage: this rank waits for no other rank.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  std::string overdue() const;
  std::unique_lock<std::mutex> lock_unless_ending();
  [[noreturn]] void end(const Stage& stage, const std::string& why);

  const std::chrono::duration<double> limit_s_;
  const std::chrono::duration<double> urgent_limit_s_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool watching_ = false;
  bool ending_ = false;
  Stage stage_;
  Clock::time_point entered_{};
  Clock::time_point begin_{};  // of the current step
  Clock::time_point told_to_stop_{};
  std::thread thread_;
};

/// Ends this rank and, if MPI runs, all others. Never returns.
[[noreturn]] void end_all_ranks(ExitStatus status);

/// False if mpirun or Slurm's step daemon, which started this rank, has ended.
bool launcher_lives();

}  // namespace sonde
