// `turns/<job>.<rank>.<step>` holds the rank that wrote it and two times.
#include "fleet/turns.hpp"

#include "base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

namespace sonde {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto poll_pause = std::chrono::milliseconds(5);
// From the agreement to the instant: all hear of it within some polls.
constexpr std::int64_t notice_ns = 500'000'000;

// The steps of a rank, in order.
constexpr const char* ready = "ready";
constexpr const char* begun = "begun";
constexpr const char* ended = "ended";
constexpr const char* met = "met";
constexpr const char* start = "start";  // by the first rank alone
constexpr const char* worked = "worked";
constexpr const char* all_steps[]{ready, begun, ended, met, start, worked};

constexpr int nobody = -1;  // wrote the marks of a rank that left

fs::path folder_of(const fs::path& parts) { return parts / "turns"; }

fs::path mark_path(const fs::path& parts, const std::string& job, int rank, const char* step) {
  return folder_of(parts) / fmt::format("{}.{}.{}", job, rank, step);
}

/// @returns whether the mark was not there
bool write_mark(const fs::path& path, int writer, const TimeSpan& span) {
  std::error_code ignored;  // another rank may have made the folder
  fs::create_directory(path.parent_path(), ignored);
  return write_new_file(path,
                        fmt::format("{} {} {} .\n", writer, span.begin_unix_ns, span.end_unix_ns));
}

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

double longest_turns_s(const TurnLimits& limits, std::size_t ranks) {
  const double each_s = limits.start_s + limits.turn_s + limits.start_s;  // the last: compare
  return limits.ready_s + static_cast<double>(ranks) * each_s + 3 * limits.start_s;
}

Turns::Turns(fs::path parts, std::string job, std::vector<int> ranks, int own,
             const TurnLimits& limits, Lookout watch)
    : parts_(std::move(parts)),
      job_(std::move(job)),
      ranks_(std::move(ranks)),
      own_(own),
      limits_(limits),
      watch_(std::move(watch)) {}

bool Turns::write(int rank, const char* step, const TimeSpan& span) {
  return write_mark(mark_path(parts_, job_, rank, step), own_, span);
}

/// Nothing if it is not there, or not whole yet.
std::optional<Turns::Mark> Turns::read(int rank, const char* step) const {
  std::ifstream file(mark_path(parts_, job_, rank, step));
  Mark mark;
  char dot = 0;
  if (file >> mark.writer >> mark.span.begin_unix_ns >> mark.span.end_unix_ns >> dot) return mark;
  return std::nullopt;
}

/// What the rank itself wrote; nothing if it was passed over, by this rank or another one.
std::optional<Turns::Mark> Turns::await(int rank, const char* step, double limit_s) {
  using Seconds = std::chrono::duration<double>;
  const auto begin = Clock::now();
  auto alive = begin;
  std::uint64_t last_sign = 0;
  for (bool over = false;;) {
    if (const auto mark = read(rank, step)) {
      if (mark->writer == rank) return mark;
      return std::nullopt;
    }
    if (over) return std::nullopt;  // who began to write it did not end
    const auto now = Clock::now();
    const std::uint64_t sign = watch_.sign_of_life ? watch_.sign_of_life(rank) : 0;
    if (sign != last_sign) alive = now;
    last_sign = sign;
    over = now - begin > Seconds(limit_s) ||
           (watch_.sign_of_life && now - alive > Seconds(limits_.silence_s));
    if (over) {
      write(rank, step);
      continue;
    }
    if (watch_.on_poll) watch_.on_poll();
    std::this_thread::sleep_for(poll_pause);
  }
}

/// Until all of them have had their turn. @returns one that was passed over, or left
std::optional<int> Turns::await_turns(const std::vector<int>& ranks) {
  std::optional<int> missing;
  for (const int rank : ranks) {
    const bool is_absent = std::ranges::find(absent_, rank) != absent_.end();
    if (!is_absent && await(rank, begun, limits_.start_s) && await(rank, ended, limits_.turn_s)) {
      continue;
    }
    if (!is_absent) absent_.push_back(rank);
    missing = rank;
  }
  return missing;
}

std::string Turns::begin() {
  const char* late = "it came too late: the other GPUs of the node had gone on without it";
  if (!write(own_, ready)) return late;
  std::vector<int> before;
  for (const int rank : ranks_) {
    if (rank == own_) continue;
    if (rank < own_) before.push_back(rank);
    if (!await(rank, ready, limits_.ready_s)) absent_.push_back(rank);
  }
  await_turns(before);
  return write(own_, begun) ? "" : late;
}

std::string Turns::end() {
  return write(own_, ended) ? ""
                            : "its turn took too long: others of the node were at work as well";
}

Appointment Turns::meet() {
  const auto refuse = [](int rank) {
    return Appointment{.refusal = fmt::format("rank {} of this node does not take part", rank)};
  };
  std::vector<int> others = ranks_;
  std::erase(others, own_);
  if (const auto missing = await_turns(others)) return refuse(*missing);
  if (!write(own_, met)) return refuse(own_);
  const int first = ranks_.front();
  if (own_ == first) {
    for (const int rank : others) {
      if (!await(rank, met, limits_.start_s)) return refuse(rank);
    }
    write(own_, start, {.begin_unix_ns = now_unix_ns() + notice_ns});
  }
  const auto agreed = await(first, start, 2 * limits_.start_s);
  if (!agreed) return refuse(first);
  return {.begin_unix_ns = agreed->span.begin_unix_ns};
}

Overlap Turns::compare(const TimeSpan& own) {
  write(own_, worked, own);
  Overlap common{.span = own};
  for (const int rank : ranks_) {
    const auto mark = await(rank, worked, limits_.start_s);
    if (!mark) {
      common.refusal = fmt::format("rank {} of this node was lost meanwhile", rank);
      return common;
    }
    common.span.begin_unix_ns = std::max(common.span.begin_unix_ns, mark->span.begin_unix_ns);
    common.span.end_unix_ns = std::min(common.span.end_unix_ns, mark->span.end_unix_ns);
  }
  if (common.span.begin_unix_ns >= common.span.end_unix_ns) {
    common.refusal = "the GPUs of the node were not at work at the same time";
  }
  return common;
}

void leave_turns(const fs::path& parts, const std::string& job, int rank) {
  for (const char* step : all_steps) write_mark(mark_path(parts, job, rank, step), nobody, {});
}

void clear_turns(const fs::path& parts) {
  std::error_code ignored;
  fs::remove_all(folder_of(parts), ignored);
}

}  // namespace sonde
