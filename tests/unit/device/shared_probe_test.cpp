// What the probes of shared memory refuse, and what the file says of them.
#include "base/error.hpp"
#include "device/probe.hpp"

#include <gtest/gtest.h>

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

TEST(SharedProbeTest, right_probes_pass) {
  EXPECT_NO_THROW(validate_probe(small_ring(), 1));
  EXPECT_NO_THROW(validate_probe(small_atomic(), 1));
}

TEST(SharedProbeTest, rings_that_leave_words_out_are_refused) {
  SharedChaseProbe probe = small_ring();
  probe.hop_words = 6;  // never comes to odd words
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe.hop_words = 9;
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe = small_ring();
  probe.step_bytes = 34;
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe = small_ring();
  probe.words = 0;
  EXPECT_THROW(validate_probe(probe, 1), Error);
}

TEST(SharedProbeTest, atomics_that_no_backend_plays_are_refused) {
  SharedAtomicProbe probe = small_atomic();
  probe.accesses = 24;
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe = small_atomic();
  probe.thread_offsets_bytes.pop_back();
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe = small_atomic();
  probe.thread_offsets_bytes[3] = 6;
  EXPECT_THROW(validate_probe(probe, 1), Error);
  probe = small_atomic();
  probe.sms = {1};
  EXPECT_THROW(validate_probe(probe, 1), Error);
}

TEST(SharedProbeTest, the_span_ends_with_the_last_word) {
  EXPECT_EQ(shared_chase_span_bytes(small_ring()), 7u * 36 + 4);
  const SharedChaseProbe pair{.thread_offsets_bytes = {0, 128}, .element_bytes = 8, .sms = {0}};
  EXPECT_EQ(shared_chase_span_bytes(pair), 136u);
}

TEST(SharedProbeTest, descriptions_say_what_was_asked) {
  EXPECT_EQ(probe_kind(small_atomic()), "shared_atomic");
  EXPECT_NE(describe_probe(small_atomic()).find("\"returned\""), std::string::npos);
  EXPECT_NE(describe_probe(small_ring()).find("\"hop_words\":5"), std::string::npos);
  EXPECT_NE(describe_probe(small_ring()).find("\"footprint_bytes\":256"), std::string::npos);
}

}  // namespace
}  // namespace sonde
