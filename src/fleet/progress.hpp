// How far the ranks are: each rewrites a small file, rank 0 and `sonde status` read them. No MPI.
#pragma once

#include "fleet/rendezvous.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// `stopped`: by a signal or the time budget, before its last job.
enum class RankState { measuring, done, measuring_again, stopped };

struct Progress {
  int rank = 0;
  int ranks = 1;
  std::string node;
  std::string uuid;
  std::string job;  // under way
  RankState state = RankState::measuring;
  int jobs_done = 0;
  int jobs_total = 0;  // 0: as many as fit into the budget
  std::uint64_t probes_done = 0;
  double elapsed_s = 0;
  double budget_s = 0;     // after which no job begins; 0: none
  std::uint64_t beat = 0;  // grows with each write
  double silent_s = 0;     // set by SilenceWatch; not in the file
};

/// A rank at work whose beat has not changed for this long is in trouble: its files are two seconds
/// apart.
inline constexpr double worrying_silence_s = 10;
bool is_silent(const Progress& rank);

/// Whether a rank was stopped and none is at work. The ranks of a night come to the end of its
/// budget one after the other.
bool is_stopped(const std::vector<Progress>& ranks);

/// Writes `<parts>/<rank>.progress.json`, at most once in two seconds while only the probe count
/// changes. Called often, it is the rank's sign of life, whether anything changed or not. A file
/// that cannot be written is no reason to stop measuring.
class ProgressFile {
 public:
  ProgressFile(const std::filesystem::path& parts, int rank);
  void update(Progress progress);

 private:
  std::filesystem::path path_;
  Progress last_;
  std::chrono::steady_clock::time_point written_{};
};

/// Removes what the ranks of an earlier run left there. By rank 0, before any rank writes.
void clear_progress(const std::filesystem::path& parts);

/// All progress files there, by rank; files that cannot be read are left out.
std::vector<Progress> read_progress(const std::filesystem::path& parts);

/// For rendezvous(): changes whenever that rank wrote its file again. 0: no file.
std::uint64_t progress_beat(const std::filesystem::path& parts, int rank);

/// For how long ranks have been silent, by the clock of the one process that looks: the clocks of
/// two machines may differ by minutes.
class SilenceWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Sets `silent_s` of each: the time since a look that found its beat changed, or since the first
  /// look.
  /// @returns whether all ranks at work have beaten since the first look
  bool look(std::vector<Progress>& ranks, Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::uint64_t beat = 0;
    Clock::time_point at{};
    bool has_beaten = false;
  };
  std::map<int, Seen> seen_;  // by rank
};

/// The progress of all ranks, with `silent_s`. Returns at once if no rank is at work; else as soon
/// as all of those have beaten, and after `worrying_silence_s` in any case.
std::vector<Progress> watch_progress(const std::filesystem::path& parts);

/// "12 of 40 device jobs done, slowest rank 3 (n2, cache.l1, 2 of 10), about 1 min left"
std::string summarize_progress(const std::vector<Progress>& ranks);

/// One line per rank and the summary: what `sonde status` prints. Ranks that show no sign of life
/// are named so.
std::string describe_progress(const std::vector<Progress>& ranks);

/// Rank 0's line on a terminal (rewritten in place) or in a batch log (one line each interval).
class ProgressLine {
 public:
  ProgressLine(std::filesystem::path parts, std::chrono::duration<double> interval_s);
  /// Prints if the interval is over. Cheap otherwise.
  void tick();
  /// Ends the line on a terminal.
  void finish();

 private:
  std::filesystem::path parts_;
  SilenceWatch watch_;
  std::chrono::duration<double> interval_s_;
  std::chrono::steady_clock::time_point printed_;
  bool on_terminal_;
  bool open_line_ = false;
};

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
