// The seam's probes of constants, launches and clocks: who loads what, and what is refused.
#include "unit/device/refusals.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sonde {
namespace {

using ::testing::HasSubstr;

ConstantStreamProbe stream() {
  return {.sms = {0, 1},
          .warps = 2,
          .warp_threads = 4,
          .footprint_bytes = 8192,
          .step_bytes = 64,
          .accesses = 64};
}

TEST(ConstantProbeTest, threads_of_a_block_share_no_word_and_leave_none_out) {
  const ConstantStreamProbe probe = stream();
  std::set<std::uint64_t> loaded;
  for (int thread = 0; thread < 8; ++thread) {
    const ConstantPiece piece = constant_piece(probe, 3, thread);
    EXPECT_EQ(piece.words, 16u);
    for (std::uint64_t access = 0; access < piece.words; ++access) {
      const std::uint64_t offset_bytes = piece.offset_bytes(access, probe.step_bytes);
      EXPECT_TRUE(loaded.insert(offset_bytes).second);
      EXPECT_EQ(piece.offset_bytes(access + piece.words, probe.step_bytes), offset_bytes);
    }
  }
  EXPECT_EQ(loaded.size(), 128u);
  EXPECT_EQ(*loaded.begin(), 0u);
  EXPECT_EQ(*loaded.rbegin(), 8192u - 64);
}

TEST(ConstantProbeTest, sms_with_numbers_in_a_row_begin_far_apart) {
  const ConstantStreamProbe probe = stream();
  for (int first = 0; first < 128; ++first) {
    std::set<std::uint64_t> starts;
    for (int sm = first; sm < first + 3; ++sm) starts.insert(constant_piece(probe, sm, 0).start);
    EXPECT_EQ(starts.size(), 3u) << first;
    EXPECT_LT(*starts.rbegin(), 16u);
  }
}

TEST(ConstantProbeTest, the_second_block_of_an_sm_begins_elsewhere_in_the_same_piece) {
  ConstantStreamProbe probe = stream();
  probe.doubled_sms = 1;
  EXPECT_EQ(probe.blocks_on(0), 2);
  EXPECT_EQ(probe.blocks_on(1), 1);
  const ConstantPiece first = constant_piece(probe, 0, 5), second = constant_piece(probe, 0, 5, 1);
  EXPECT_EQ(first.first, second.first);
  EXPECT_NE(first.start, second.start);
}

TEST(ConstantProbeTest, the_untimed_round_is_whole_and_in_rows) {
  ConstantStreamProbe probe = stream();
  EXPECT_EQ(constant_warmup_accesses(probe), 16u);
  probe.footprint_bytes = 9000;  // 17 words for each thread
  EXPECT_EQ(constant_warmup_accesses(probe), 24u);
}

TEST(ConstantProbeTest, impossible_streams_are_refused) {
  EXPECT_THAT(describe_probe(stream()), HasSubstr(R"("warp_threads":4)"));
  EXPECT_THROW(validate_probe(stream(), 1), Error);
  expect_refused(
      stream(),
      {[](auto& probe) { probe.sms.clear(); }, [](auto& probe) { probe.warp_threads = 33; },
       [](auto& probe) { probe.footprint_bytes = constant_bank_bytes + 64; },
       [](auto& probe) { probe.step_bytes = 6; }, [](auto& probe) { probe.step_bytes = 0; },
       [](auto& probe) { probe.footprint_bytes = 7 * 64; },
       [](auto& probe) { probe.accesses = 60; }, [](auto& probe) { probe.doubled_sms = 3; }});
}

TEST(PaceProbeTest, launches_and_readings_must_end) {
  expect_refused(LaunchProbe{.launches = 2, .blocks = 30},
                 {[](auto& probe) { probe.launches = 0; },
                  [](auto& probe) { probe.busy_ns = 9'000'000'000; }});
  const PaceProbe pace{
      .work = SmWork::arithmetic, .sms = {0}, .samples = 10, .interval_ns = 500'000};
  EXPECT_THAT(describe_probe(pace), HasSubstr(R"("work":"arithmetic")"));
  expect_refused(pace,
                 {[](auto& probe) { probe.sms = {2}; }, [](auto& probe) { probe.samples = 1; },
                  [](auto& probe) { probe.samples = 1'000'000; }});
}

}  // namespace
}  // namespace sonde
