// Bounds what ranks do together: a collective call in which one of them is missing returns on no
// rank, and nothing inside MPI would ever end it
// (docs/supervision.md).
#pragma once

#include "base/exit_status.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace sonde {

/// A stage that is being watched.
struct Stage {
  std::string name;                       // "writing the run file"
  ExitStatus status = ExitStatus::error;  // of the process, if it ends here
  double limits = 1;                      // that it may take
  /// Called on the watch's thread before the process ends, in place of `status`.
  std::function<ExitStatus()> rescue{};
};

/// Watches from a thread of its own. A stage is over its time when it lasts longer than the limit,
/// some seconds longer than a SIGTERM, or than the launcher: then the process says so, calls the
/// stage's rescue and ends, with MPI_Abort for all ranks if MPI runs. Who calls the watch meanwhile
/// waits for that end: the rescue may use what a caller that went on would destroy.
class StageWatch {
 public:
  /// @param limit_s of each stage, or of each of its steps
  /// @param urgent_limit_s of a stage after SIGTERM, or of one that begins later: enough to end a
  ///   short one in order, less than the 30 s that Slurm leaves
  explicit StageWatch(double limit_s, double urgent_limit_s = 15);
  ~StageWatch();
  StageWatch(const StageWatch&) = delete;
  StageWatch& operator=(const StageWatch&) = delete;

  /// This stage begins, and the one before it is over.
  void enter(Stage stage);
  /// The same stage, its next step.
  void step();
  /// No stage is under way: this rank waits for nobody.
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
  Clock::time_point begin_{};  // of its step
  Clock::time_point told_to_stop_{};
  std::thread thread_;
};

/// Ends this rank and, if MPI runs, all others, whatever they are doing. Returns in no case.
[[noreturn]] void end_all_ranks(ExitStatus status);

/// False once mpirun or Slurm's step daemon, which started this rank, is gone.
bool launcher_lives();

}  // namespace sonde
