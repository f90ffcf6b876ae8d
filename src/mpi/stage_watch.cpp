#include "mpi/stage_watch.hpp"

#include "base/log.hpp"
#include "base/stop_signal.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sonde {
namespace {

constexpr auto check_period = std::chrono::milliseconds(200);
// MPI_Abort sends a message to the launcher, and may itself hang.
constexpr unsigned abort_limit_s = 5;

const int first_parent = getppid();

}  // namespace

bool launcher_lives() {
  // Without a launcher, the program may outlive the shell that started it.
  static const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMIX_RANK");
  return !launched || getppid() == first_parent;
}

void end_all_ranks(ExitStatus status) {
  const int code = static_cast<int>(status);
  std::fflush(nullptr);
  std::signal(SIGALRM, SIG_DFL);
  alarm(abort_limit_s);
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && !ended) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

StageWatch::StageWatch(double limit_s, double urgent_limit_s)
    : limit_s_(limit_s), urgent_limit_s_(urgent_limit_s), thread_([this] { watch(); }) {}

StageWatch::~StageWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::unique_lock<std::mutex> StageWatch::lock_unless_ending() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ending_; });
  return lock;
}

void StageWatch::enter(Stage stage) {
  const auto lock = lock_unless_ending();
  stage_ = std::move(stage);
  watching_ = true;
  entered_ = begin_ = Clock::now();
}

void StageWatch::step() {
  const auto lock = lock_unless_ending();
  begin_ = Clock::now();
}

void StageWatch::leave() {
  const auto lock = lock_unless_ending();
  watching_ = false;
}

std::string StageWatch::overdue() const {
  const auto now = Clock::now();
  const auto limit_s = limit_s_ * stage_.limits;
  if (now - begin_ > limit_s) {
    return fmt::format(
        "took longer than {:.0f} s: a rank is missing in it, or the file system stands still",
        limit_s.count());
  }
  if (!launcher_lives()) return "lost its launcher";
  if (told_to_stop_ != Clock::time_point{} &&
      now - std::max(told_to_stop_, entered_) > urgent_limit_s_) {
    return "was to end by SIGTERM";
  }
  return "";
}

void StageWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, check_period, [this] { return over_; })) {
    if (stop_is_urgent() && told_to_stop_ == Clock::time_point{}) told_to_stop_ = Clock::now();
    if (!watching_) continue;
    const std::string why = overdue();
    if (why.empty()) continue;
    const Stage stage = std::exchange(stage_, {});
    ending_ = true;
    lock.unlock();
    end(stage, why);
  }
}

void StageWatch::end(const Stage& stage, const std::string& why) {
  log_local(fmt::format("{} {}", stage.name, why));
  ExitStatus status = stage.status;
  try {
    if (stage.rescue) status = stage.rescue();
  } catch (const std::exception& error) {  // for example, the launcher is gone
    log_local(error.what());
  }
  end_all_ranks(status);
}

}  // namespace sonde
