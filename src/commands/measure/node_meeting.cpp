// Each GPU's last step, under one lock.
#include "commands/measure/node_meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sonde {
namespace {

constexpr auto poll_pause = std::chrono::milliseconds(50);
// From the agreement to the instant: all threads have woken up by then.
constexpr std::chrono::nanoseconds notice = std::chrono::milliseconds(200);

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
  return {.begin = begin,
          .end = [this, place] { take(place, Step::ended); },
          .meet = [this, place, on_poll] { return meet(place, on_poll); },
          .compare = [this, place, on_poll](TimeSpan own) { return compare(place, own, on_poll); }};
}

void NodeMeeting::leave(std::size_t place) {
  const std::lock_guard lock(mutex_);
  members_[place].left = true;
  changed_.notify_all();
}

void NodeMeeting::take(std::size_t place, Step step) {
  const std::lock_guard lock(mutex_);
  members_[place].step = step;
  changed_.notify_all();
}

/// Until each of the first `count` has come to this step, or left.
/// @returns the rank of one that left before it
std::optional<int> NodeMeeting::await(Step step, std::size_t count,
                                      const std::function<void()>& on_poll) {
  const auto last = members_.begin() + static_cast<std::ptrdiff_t>(count);
  const auto is_missing = [step](const Member& member) { return member.step < step; };
  const auto is_over = [&] {
    return std::all_of(members_.begin(), last,
                       [&](const Member& member) { return member.left || !is_missing(member); });
  };
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, poll_pause, is_over)) {
    lock.unlock();
    on_poll();
    lock.lock();
  }
  const auto missing = std::find_if(members_.begin(), last, is_missing);
  return missing == last ? std::nullopt : std::optional(missing->rank);
}

Appointment NodeMeeting::meet(std::size_t place, const std::function<void()>& on_poll) {
  auto missing = await(Step::ended, members_.size(), on_poll);
  if (!missing) {
    take(place, Step::met);
    missing = await(Step::met, members_.size(), on_poll);
  }
  if (missing) {
    return {.refusal = fmt::format("rank {} of this node does not take part", *missing)};
  }
  const std::lock_guard lock(mutex_);
  if (!start_unix_ns_) {
    const auto start = std::chrono::system_clock::now().time_since_epoch() + notice;
    start_unix_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(start).count();
  }
  return {.begin_unix_ns = *start_unix_ns_};
}

Overlap NodeMeeting::compare(std::size_t place, const TimeSpan& own,
                             const std::function<void()>& on_poll) {
  {
    const std::lock_guard lock(mutex_);
    members_[place].span = own;
  }
  take(place, Step::worked);
  Overlap common{.span = own};
  if (const auto missing = await(Step::worked, members_.size(), on_poll)) {
    common.refusal = fmt::format("rank {} of this node was lost meanwhile", *missing);
    return common;
  }
  for (const Member& member : members_) {  // nobody writes there any more
    common.span.begin_unix_ns = std::max(common.span.begin_unix_ns, member.span.begin_unix_ns);
    common.span.end_unix_ns = std::min(common.span.end_unix_ns, member.span.end_unix_ns);
  }
  if (common.span.begin_unix_ns >= common.span.end_unix_ns) {
    common.refusal = "the GPUs of the node were not at work at the same time";
  }
  return common;
}

}  // namespace sonde
