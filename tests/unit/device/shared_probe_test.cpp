// What the probes of shared memory refuse, and what the file says of them.
#include "unit/device/refusals.hpp"

namespace sonde {
namespace {

SharedChaseProbe small_ring() {
  return {.thread_offsets_bytes = {0},
          .accesses = 16,
          .sms = {0},
          .words = 8,
          .step_bytes = 36,
          .hop_words = 5};
}

SharedAtomicProbe small_atomic() {
  return {.thread_offsets_bytes = std::vector<std::uint32_t>(32, 4), .accesses = 32, .sms = {0}};
}

TEST(SharedProbeTest, rings_that_leave_words_out_are_refused) {
  expect_refused(small_ring(),
                 {[](auto& probe) { probe.hop_words = 6; },  // never to odd words
                  [](auto& probe) { probe.hop_words = 9; },
                  [](auto& probe) { probe.step_bytes = 34; }, [](auto& probe) { probe.words = 0; },
                  [](auto& probe) { probe.thread_offsets_bytes.resize(33); }});
}

TEST(SharedProbeTest, atomics_that_no_backend_plays_are_refused) {
  expect_refused(small_atomic(), {[](auto& probe) { probe.accesses = 24; },
                                  [](auto& probe) { probe.thread_offsets_bytes.pop_back(); },
                                  [](auto& probe) { probe.thread_offsets_bytes[3] = 6; },
                                  [](auto& probe) { probe.sms = {2}; }});
}

TEST(SharedProbeTest, streams_of_loads_have_one_number_of_loads_and_one_element_of_each_thread) {
  SharedStreamProbe loads{.block_threads = 64, .ilp = 8, .work = SharedWork::loads};
  expect_refused(loads,
                 {[](auto& probe) { probe.ilp = 4; }, [](auto& probe) { probe.passes = 0; }});
  EXPECT_EQ(shared_stream_block_bytes(loads), 64u * 4);
  EXPECT_NE(describe_probe(loads).find("\"loads\""), std::string::npos);
  loads.work = SharedWork::copies;
  EXPECT_EQ(shared_stream_block_bytes(loads), 64u * 4 * 8 * 2);
}

TEST(SharedProbeTest, the_span_ends_with_the_last_word) {
  EXPECT_EQ(shared_chase_span_bytes(small_ring()), 7u * 36 + 4);
  const SharedChaseProbe pair{.thread_offsets_bytes = {0, 128}, .element_bytes = 8, .sms = {0}};
  EXPECT_EQ(shared_chase_span_bytes(pair), 136u);
}

TEST(SharedProbeTest, descriptions_say_what_was_asked) {
  EXPECT_NE(describe_probe(small_atomic()).find("\"returned\""), std::string::npos);
  EXPECT_NE(describe_probe(small_ring()).find("\"hop_words\":5"), std::string::npos);
  EXPECT_NE(describe_probe(small_ring()).find("\"footprint_bytes\":256"), std::string::npos);
}

}  // namespace
}  // namespace sonde
