// The progress of ranks: each rank rewrites a small file; rank 0 and `sonde status` read them.
#pragma once

#include "fleet/rendezvous.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sonde {

/// `stopped`: by a signal or the time budget, before the last job.
enum class RankState { measuring, done, measuring_again, stopped };

/// The progress of one rank.
struct Progress {
  int rank = 0;
  int ranks = 1;
  std::string node;
  std::string uuid;
  std::string job;  // the current job
  RankState state = RankState::measuring;
  int jobs_done = 0;
  int jobs_total = 0;  // 0: as many as the time budget allows
  std::uint64_t probes_done = 0;
  double elapsed_s = 0;
  double budget_s = 0;     // no job begins after this time; 0: no budget
  std::uint64_t beat = 0;  // increases with each write
  double silent_s = 0;     // set by SilenceWatch; not in the file
};

/// A working rank without a new beat for this time is in trouble: it writes every 2 seconds.
inline constexpr double worrying_silence_s = 10;
bool is_silent(const Progress& rank);

/// True if a rank was stopped and none is at work. (Ranks stop at different times.)
bool is_stopped(const std::vector<Progress>& ranks);

/// Writes `<parts>/<rank>.progress.json`, at most once in two seconds while only the probe count
/// changes. Call update often, even without changes: it is the rank's sign of life. Errors in
/// writing are ignored, so that measuring goes on.
class ProgressFile {
 public:
  ProgressFile(const std::filesystem::path& parts, int rank);
  void update(Progress progress);

 private:
  std::filesystem::path path_;
  Progress last_;
  std::chrono::steady_clock::time_point written_{};
};

/// Removes the files of an earlier run. Called by rank 0 before any rank writes.
void clear_progress(const std::filesystem::path& parts);

/// All progress files, ordered by rank; files that cannot be read are left out.
std::vector<Progress> read_progress(const std::filesystem::path& parts);

/// The beat of a rank, for rendezvous(); 0: no file.
std::uint64_t progress_beat(const std::filesystem::path& parts, int rank);

/// Measures how long ranks have been silent by the clock of the process that looks, since clocks of
/// two machines may differ by minutes.
class SilenceWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Sets `silent_s` of each rank: the time since it had a new beat, or since the first look.
  /// @returns true if all working ranks have a new beat since the first look
  bool look(std::vector<Progress>& ranks, Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::uint64_t beat = 0;
    Clock::time_point at{};
    bool has_beaten = false;
  };
  std::map<int, Seen> seen_;  // by rank
};

/// The progress of all ranks, with `silent_s`. Waits (at most 10 s) for a new beat of all working
/// ranks.
std::vector<Progress> watch_progress(const std::filesystem::path& parts);

/// "12 of 40 device jobs done, slowest rank 3 (n2, cache.l1, 2 of 10), about 1 min left"
std::string summarize_progress(const std::vector<Progress>& ranks);

/// The output of `sonde status`: one line per rank and the summary. Silent ranks are marked.
std::string describe_progress(const std::vector<Progress>& ranks);

/// Rank 0's progress line: rewritten in place on a terminal, one line per interval in a batch log.
class ProgressLine {
 public:
  ProgressLine(std::filesystem::path parts, std::chrono::duration<double> interval_s);
  /// Prints if the interval is over; otherwise costs little.
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

/// Updates the rank's progress file, and on rank 0 also the progress line.
class RankProgress {
 public:
  RankProgress(const std::filesystem::path& parts, Progress first,
               std::chrono::duration<double> line_interval_s);

  /// Sets the current job and the counts.
  void update(const std::string& job, int jobs_done, std::uint64_t probes_done);
  void measured(int jobs_done);
  /// Sets the state: `stopped` before the last job, or the work after `measured`.
  void enter(RankState state);
  int jobs_done() const { return progress_.jobs_done; }

  /// A sign of life. Call it several times a second, at least every few seconds.
  /// @throws CommError if the launcher is gone
  void tick();
  void finish_line() { line_.finish(); }

  /// A Lookout that ticks while waiting. `this` must outlive it.
  Lookout lookout();
  /// A Lookout without ticks.
  Lookout silent_lookout() const;

 private:
  std::filesystem::path parts_;
  Progress progress_;
  ProgressFile file_;
  ProgressLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sonde
