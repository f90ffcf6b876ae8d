#include "commands/measure/node_meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sonde {
namespace {

constexpr auto meeting_pause = std::chrono::milliseconds(50);
// Time from the agreement to the common start, so that all threads have woken up by then.
constexpr std::int64_t notice_ns = 200'000'000;

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

NodeMeeting::NodeMeeting(const std::vector<NodeGpu>& gpus) {
  for (const NodeGpu& gpu : gpus) members_.push_back({.rank = gpu.rank});
}

NodeTurns NodeMeeting::turns_of(std::size_t place, const std::function<void()>& on_poll) {
  const auto begin = [this, place, on_poll] {
    take(place, Step::ready);
    await(Step::ready, members_.size(), on_poll);
    await(Step::ended, place, on_poll);
  };
  const auto meet = [this, place, on_poll]() -> Appointment {
    take(place, Step::met);
    const auto missing = await(Step::met, members_.size(), on_poll);
    if (!missing) return {.begin_unix_ns = start_unix_ns_};
    return {.refusal = fmt::format("rank {} of this node does not take part", *missing)};
  };
  const auto compare = [this, place, on_poll](TimeSpan own) -> Overlap {
    take(place, Step::worked, own);
    const auto missing = await(Step::worked, members_.size(), on_poll);
    if (!missing) return {.span = common_};
    return {.refusal = fmt::format("rank {} of this node was lost meanwhile", *missing)};
  };
  return {.begin = begin,
          .end = [this, place] { take(place, Step::ended); },
          .meet = meet,
          .compare = compare};
}

void NodeMeeting::leave(std::size_t place) {
  const std::lock_guard lock(mutex_);
  members_[place].left = true;
  changed_.notify_all();
}

/// @param span the time span in which the GPU has worked
void NodeMeeting::take(std::size_t place, Step step, const TimeSpan& span) {
  const std::lock_guard lock(mutex_);
  members_[place].step = step;
  if (step == Step::met) start_unix_ns_ = now_unix_ns() + notice_ns;  // the last GPU sets it
  if (step == Step::worked) {
    common_.begin_unix_ns = std::max(common_.begin_unix_ns, span.begin_unix_ns);
    common_.end_unix_ns = std::min(common_.end_unix_ns, span.end_unix_ns);
  }
  changed_.notify_all();
}

/// Waits until each of the first `count` members has come to this step or left.
/// @returns the rank of a member that left before the step
std::optional<int> NodeMeeting::await(Step step, std::size_t count,
                                      const std::function<void()>& on_poll) {
  const auto last = members_.begin() + static_cast<std::ptrdiff_t>(count);
  const auto is_over = [&](const Member& member) { return member.left || member.step >= step; };
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, meeting_pause,
                            [&] { return std::all_of(members_.begin(), last, is_over); })) {
    lock.unlock();
    on_poll();
    lock.lock();
  }
  const auto missing = std::find_if(members_.begin(), last,
                                    [&](const Member& member) { return member.step < step; });
  return missing == last ? std::nullopt : std::optional(missing->rank);
}

}  // namespace sonde
