// What this rank shows of itself, and sees of the others.
#pragma once

#include "fleet/progress.hpp"
#include "fleet/rendezvous.hpp"

#include <filesystem>

namespace sonde {

/// Keeps the rank's progress file alive; on rank 0 also the line for people.
class RankProgress {
 public:
  RankProgress(const std::filesystem::path& parts, Progress first,
               std::chrono::duration<double> line_interval_s);

  /// The parts of it that change.
  void update(const std::string& job, int jobs_done, std::uint64_t probes_done);
  void measured(int jobs_done);
  /// `stopped` before its last job; or after `measured`, until the next one, what follows now.
  void enter(RankState state);
  int jobs_done() const { return progress_.jobs_done; }

  /// A sign of life. To be called some times a second, at least every few seconds.
  /// @throws CommError once the launcher is gone
  void tick();
  void finish_line() { line_.finish(); }

  /// For waiting on others. `this` must outlive it.
  Lookout lookout();
  /// The same without a sign of life of this rank.
  Lookout silent_lookout() const;

 private:
  std::filesystem::path parts_;
  Progress progress_;
  ProgressFile file_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sonde
