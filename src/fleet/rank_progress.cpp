// Signs of life by files.
#include "fleet/rank_progress.hpp"

#include "base/error.hpp"
#include "mpi/stage_watch.hpp"

#include <utility>

namespace sonde {

RankProgress::RankProgress(const std::filesystem::path& parts, Progress first,
                           std::chrono::duration<double> line_interval_s)
    : parts_(parts),
      progress_(std::move(first)),
      file_(parts, progress_.rank),
      line_(parts, line_interval_s) {}

void RankProgress::update(const std::string& job, int jobs_done, std::uint64_t probes_done) {
  progress_.job = job;
  progress_.jobs_done = jobs_done;
  progress_.probes_done = probes_done;
  tick();
}

void RankProgress::measured(int jobs_done) {
  progress_.jobs_done = jobs_done;
  enter(RankState::done);
}

void RankProgress::enter(RankState state) {
  progress_.state = state;
  if (state == RankState::done || state == RankState::stopped) progress_.job.clear();
  tick();
}

void RankProgress::tick() {
  if (!launcher_lives()) {
    throw CommError(
        "the launcher of this rank is gone (mpirun or Slurm's step daemon was killed) start the "
        "run again with --resume");
  }
  if (progress_.state == RankState::measuring) {
    progress_.elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  file_.update(progress_);
  if (progress_.rank == 0) line_.tick();
}

Lookout RankProgress::lookout() {
  Lookout lookout = silent_lookout();
  lookout.on_poll = [this] { tick(); };
  return lookout;
}

Lookout RankProgress::silent_lookout() const {
  return {.sign_of_life = [this](int rank) { return progress_beat(parts_, rank); }};
}

}  // namespace sonde
