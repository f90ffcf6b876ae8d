#include "commands/measure/node_meeting.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// GPUs of ranks 0, 2 and 5.
class NodeMeetingTest : public testing::Test {
 protected:
  NodeTurns turns(std::size_t place) {
    return meeting_.turns_of(place, [] {});
  }
  /// Runs `way` for each GPU in a thread of its own. @returns what each gave
  template <class Way>
  static auto walk(const Way& way) {
    std::vector<std::future<decltype(way(std::size_t{}))>> threads;
    for (std::size_t place = 0; place < 3; ++place) {
      threads.push_back(std::async(std::launch::async, way, place));
    }
    std::vector<decltype(way(std::size_t{}))> results;
    for (auto& thread : threads) results.push_back(thread.get());
    return results;
  }

  NodeMeeting meeting_{
      {{.uuid = "A", .rank = 0}, {.uuid = "B", .rank = 2}, {.uuid = "C", .rank = 5}}};
};

TEST_F(NodeMeetingTest, turns_follow_each_other_by_rank_once_all_are_ready) {
  std::atomic<std::size_t> ready = 0;
  std::atomic<std::size_t> ended = 0;
  walk([&](std::size_t place) {
    std::this_thread::sleep_for((3 - place) * 20ms);  // the first is ready last
    ++ready;
    turns(place).begin();
    EXPECT_EQ(ready, 3U);
    EXPECT_EQ(ended, place);
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(ended++, place);
    turns(place).end();
    return place;
  });
}

TEST_F(NodeMeetingTest, all_agree_on_an_instant_that_is_still_to_come) {
  const auto met = walk([&](std::size_t place) {
    turns(place).begin();
    turns(place).end();
    const Appointment appointment = turns(place).meet();
    EXPECT_GT(appointment.begin_unix_ns, now_unix_ns());
    return appointment;
  });
  for (const Appointment& one : met) {
    EXPECT_EQ(one.refusal, "");
    EXPECT_EQ(one.begin_unix_ns, met[0].begin_unix_ns);
  }
}

TEST_F(NodeMeetingTest, nobody_waits_for_one_that_left_before_its_turn_or_in_it) {
  for (const bool begins : {false, true}) {
    NodeMeeting meeting(
        {{.uuid = "A", .rank = 0}, {.uuid = "B", .rank = 2}, {.uuid = "C", .rank = 5}});
    const auto refusals = walk([&](std::size_t place) -> std::string {
      const NodeTurns own = meeting.turns_of(place, [] {});
      if (place != 1 || begins) own.begin();
      if (place == 1) {
        meeting.leave(1);
        return "";
      }
      own.end();
      return own.meet().refusal;
    });
    const std::string refusal = "rank 2 of this node does not take part";
    EXPECT_THAT(refusals, ElementsAre(refusal, "", refusal));
  }
}

TEST_F(NodeMeetingTest, who_leaves_at_work_with_all_others_is_missed_by_them) {
  const auto overlaps = walk([&](std::size_t place) {
    turns(place).begin();
    turns(place).end();
    EXPECT_EQ(turns(place).meet().refusal, "");
    if (place == 2) {
      meeting_.leave(2);
      return Overlap{};
    }
    return turns(place).compare({1, 2});
  });
  EXPECT_EQ(overlaps[0].refusal, "rank 5 of this node was lost meanwhile");
  EXPECT_EQ(overlaps[1].refusal, overlaps[0].refusal);
}

TEST_F(NodeMeetingTest, spans_have_a_common_part) {
  const std::vector<TimeSpan> spans{{10, 50}, {20, 60}, {5, 40}};
  for (const Overlap& one :
       walk([&](std::size_t place) { return turns(place).compare(spans[place]); })) {
    EXPECT_EQ(one.refusal, "");
    EXPECT_EQ(one.span.begin_unix_ns, 20);
    EXPECT_EQ(one.span.end_unix_ns, 40);
  }
}

TEST_F(NodeMeetingTest, who_waits_can_be_stopped) {
  const NodeTurns own = meeting_.turns_of(0, [] { throw std::runtime_error("stopped"); });
  EXPECT_THROW(own.begin(), std::runtime_error);
}

}  // namespace
}  // namespace sonde
