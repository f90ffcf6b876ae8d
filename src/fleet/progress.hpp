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
  std::uint64_t beat = 0;  // increases with each write
  double silent_s = 0;     // set by SilenceWatch; not in the file
};

/// A working rank without a new beat for this time is in trouble: it writes every 2 seconds.
inline constexpr double worrying_silence_s = 10;
bool is_silent(const Progress& rank);

/// True if a rank was stopped and none is at work. (Ranks stop at different times.)
bool is_stopped(const std::vector<Progress>& ranks);

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

/// Writes the progress file of a rank, `<parts>/<rank>.progress.json`. Errors in writing are
/// ignored, so that measuring goes on. Rank 0 also prints a progress line: rewritten in place on a
/// terminal, one line per interval in a batch log.
class RankProgress {
 public:
  RankProgress(std::filesystem::path parts, Progress first,
               std::chrono::duration<double> line_interval_s);

  /// Sets the current job and the counts.
  void update(const std::string& job, int jobs_done, std::uint64_t probes_done);
  void measured(int jobs_done);
  /// Sets the state: `stopped` before the last job, or the work after `measured`.
  void enter(RankState state);
  int jobs_done() const { return progress_.jobs_done; }

  /// A sign of life. Call it several times a second, at least every few seconds. It writes at most
  /// once in two seconds while only the probe count changes.
  /// @throws CommError if the launcher is gone
  void tick();
  /// Ends the progress line on a terminal.
  void finish_line();

  /// A Lookout that ticks while waiting. `this` must outlive it.
  Lookout lookout();
  /// A Lookout without ticks.
  Lookout silent_lookout() const;

 private:
  using Clock = std::chrono::steady_clock;
  void write_file();
  void print_line();

  std::filesystem::path parts_;
  Progress progress_;
  Progress last_;  // as written
  Clock::time_point written_{};
  const Clock::time_point start_ = Clock::now();
  std::chrono::duration<double> line_interval_s_;
  Clock::time_point printed_ = start_;
  SilenceWatch watch_;
  bool on_terminal_;
  bool open_line_ = false;
};

}  // namespace sonde
