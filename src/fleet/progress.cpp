#include "fleet/progress.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/escape.hpp"
#include "mpi/stage_watch.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

namespace sonde {

namespace fs = std::filesystem;

// The JSON library finds these by name.
NLOHMANN_JSON_SERIALIZE_ENUM(RankState, {{RankState::measuring, "measuring"},
                                         {RankState::done, "done"},
                                         {RankState::measuring_again, "measuring again"},
                                         {RankState::stopped, "stopped"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Progress, rank, ranks, node, uuid, job, state, jobs_done,
                                   jobs_total, probes_done, elapsed_s, beat)

namespace {

using Clock = std::chrono::steady_clock;

// Short enough for a person, long enough for a shared file system with thousands of ranks.
constexpr auto write_interval = std::chrono::seconds(2);
constexpr std::size_t padded_bytes = 1024;
constexpr std::string_view suffix = ".progress.json";

fs::path file_of(const fs::path& parts, int rank) {
  return parts / fmt::format("{}{}", rank, suffix);
}

/// The progress files of all ranks.
std::vector<fs::path> list_files(const fs::path& parts) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    if (entry.path().string().ends_with(suffix)) files.push_back(entry.path());
  }
  return files;
}

std::optional<Progress> read_one(const fs::path& path) {
  std::ifstream file(path);
  try {
    return nlohmann::json::parse(file).get<Progress>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string format_duration(double seconds) {
  constexpr double longest = 1e9;  // a damaged progress file may hold any number
  const auto whole = seconds > 0 ? static_cast<long>(std::min(seconds, longest)) : 0L;
  if (whole < 90) return fmt::format("{} s", whole);
  if (whole < 90 * 60) return fmt::format("{} min", (whole + 30) / 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

bool is_at_work(const Progress& rank) {
  return rank.state == RankState::measuring || rank.state == RankState::measuring_again;
}

/// "12 of 40"; only "12" if the total is not known.
std::string count_text(int done, int total) {
  return total > 0 ? fmt::format("{} of {}", done, total) : std::to_string(done);
}

}  // namespace

void clear_progress(const fs::path& parts) {
  std::error_code ignored;
  for (const fs::path& path : list_files(parts)) fs::remove(path, ignored);
}

std::vector<Progress> read_progress(const fs::path& parts) {
  std::vector<Progress> ranks;
  for (const fs::path& path : list_files(parts)) {
    if (auto progress = read_one(path)) ranks.push_back(std::move(*progress));
  }
  std::ranges::sort(ranks, {}, &Progress::rank);
  return ranks;
}

bool SilenceWatch::look(std::vector<Progress>& ranks, Clock::time_point now) {
  bool all_have_beaten = true;
  for (Progress& rank : ranks) {
    const auto [place, is_new] = seen_.try_emplace(rank.rank, Seen{.beat = rank.beat, .at = now});
    Seen& seen = place->second;
    if (seen.beat != rank.beat) seen = {.beat = rank.beat, .at = now, .has_beaten = true};
    rank.silent_s = std::chrono::duration<double>(now - seen.at).count();
    if (is_at_work(rank) && !seen.has_beaten) all_have_beaten = false;
  }
  return all_have_beaten;
}

std::vector<Progress> watch_progress(const fs::path& parts) {
  constexpr std::chrono::duration<double> pause_s{0.25};
  // Counts looks and not seconds: while the file system hangs, ranks cannot write either.
  constexpr int most_pauses = static_cast<int>(worrying_silence_s / pause_s.count());
  SilenceWatch watch;
  for (int pauses = 0;; ++pauses) {
    auto ranks = read_progress(parts);
    if (watch.look(ranks) || pauses == most_pauses) return ranks;
    std::this_thread::sleep_for(pause_s);
  }
}

std::uint64_t progress_beat(const fs::path& parts, int rank) {
  const auto progress = read_one(file_of(parts, rank));
  return progress ? progress->beat : 0;
}

std::string summarize_progress(const std::vector<Progress>& ranks) {
  int done = 0;
  int total = 0;
  const Progress* slowest = nullptr;
  for (const Progress& rank : ranks) {
    done += rank.jobs_done;
    total += rank.jobs_total;
    if (rank.state != RankState::measuring) continue;
    if (!slowest || rank.jobs_done < slowest->jobs_done) slowest = &rank;
  }
  std::string text = fmt::format("{} device jobs done", count_text(done, total));
  const auto silent = std::ranges::count_if(ranks, is_silent);
  if (silent > 0) text += fmt::format(", {} rank(s) without a sign of life", silent);
  const auto again = std::ranges::count(ranks, RankState::measuring_again, &Progress::state);
  if (again > 0) text += fmt::format(", {} GPU(s) measured again", again);
  if (is_stopped(ranks)) return text + ", the run was stopped: --resume goes on";
  const bool all_done = std::ranges::all_of(
      ranks, [](const Progress& rank) { return rank.state == RankState::done; });
  if (all_done && !ranks.empty() && ranks.size() == static_cast<std::size_t>(ranks.front().ranks)) {
    text += ", writing and analysing the run file";
  }
  if (!slowest) return text;
  text += fmt::format(", slowest rank {} ({}, {}, {})", slowest->rank,
                      escape_terminal(slowest->node), escape_terminal(slowest->job),
                      count_text(slowest->jobs_done, slowest->jobs_total));
  double left_s = 0;  // as fast as so far
  for (const Progress& rank : ranks) {
    if (rank.state != RankState::measuring || rank.jobs_done == 0) continue;
    left_s = std::max(left_s, rank.elapsed_s / rank.jobs_done * (rank.jobs_total - rank.jobs_done));
  }
  return left_s > 0 ? text + fmt::format(", about {} left", format_duration(left_s)) : text;
}

bool is_silent(const Progress& rank) {
  return is_at_work(rank) && rank.silent_s >= worrying_silence_s;
}

bool is_stopped(const std::vector<Progress>& ranks) {
  return std::ranges::count(ranks, RankState::stopped, &Progress::state) > 0 &&
         std::ranges::none_of(ranks, is_at_work);
}

std::string describe_progress(const std::vector<Progress>& ranks) {
  std::string text;
  for (const Progress& rank : ranks) {
    const std::string state = is_silent(rank) ? "silent for " + format_duration(rank.silent_s)
                                              : nlohmann::json(rank.state).get<std::string>();
    const std::string total = rank.jobs_total > 0 ? fmt::format("/{}", rank.jobs_total) : "";
    text += fmt::format("rank {:<4} {:<16} {:<42} {:<15} {:>3}{:<4} jobs {:>6} probes {:>9}  {}\n",
                        rank.rank, escape_terminal(rank.node), escape_terminal(rank.uuid), state,
                        rank.jobs_done, total, rank.probes_done, format_duration(rank.elapsed_s),
                        escape_terminal(rank.job));
  }
  return text + summarize_progress(ranks) + "\n";
}

RankProgress::RankProgress(fs::path parts, Progress first,
                           std::chrono::duration<double> line_interval_s)
    : parts_(std::move(parts)),
      progress_(std::move(first)),
      line_interval_s_(line_interval_s),
      on_terminal_(isatty(STDERR_FILENO) == 1) {
  if (on_terminal_ && line_interval_s_ > write_interval) line_interval_s_ = write_interval;
}

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
    progress_.elapsed_s = std::chrono::duration<double>(Clock::now() - start_).count();
  }
  write_file();
  if (progress_.rank == 0 && Clock::now() - printed_ >= line_interval_s_) print_line();
}

void RankProgress::write_file() {
  const bool same_step = progress_.job == last_.job && progress_.state == last_.state &&
                         progress_.jobs_done == last_.jobs_done && last_.beat > 0;
  if (same_step && Clock::now() - written_ < write_interval) return;
  ++progress_.beat;
  last_ = progress_;
  written_ = Clock::now();
  // Written in place: other NFS clients may not see a renamed file for a minute. Padded to one
  // length, so that readers rarely see half of it.
  std::string text =
      nlohmann::json(progress_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize(std::max(text.size(), padded_bytes), ' ');
  const Descriptor file(
      open(file_of(parts_, progress_.rank).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (file < 0) return;
  static_cast<void>(pwrite(file, text.data(), text.size(), 0));
  static_cast<void>(ftruncate(file, static_cast<off_t>(text.size())));
}

void RankProgress::print_line() {
  printed_ = Clock::now();
  auto ranks = read_progress(parts_);
  if (ranks.empty()) return;
  watch_.look(ranks);
  const std::string line = fmt::format("sonde: {:%H:%M:%S}Z {}", fmt::gmtime(std::time(nullptr)),
                                       summarize_progress(ranks));
  // On a terminal, "\r" and "erase to the end of the line" rewrite one line.
  fmt::print(stderr, "{}", on_terminal_ ? "\r" + line + "\x1b[K" : line + "\n");
  std::fflush(stderr);
  open_line_ = on_terminal_;
}

void RankProgress::finish_line() {
  if (open_line_) fmt::print(stderr, "\n");
  open_line_ = false;
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
