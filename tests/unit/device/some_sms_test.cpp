#include "device/some_sms.hpp"

#include "base/error.hpp"
#include "support/stub_device.hpp"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SomeSmsTest, numbers_and_ranges_come_in_order_each_once) {
  EXPECT_THAT(parse_sms({"20-23", "17", "21"}), ElementsAre(17, 20, 21, 22, 23));
  EXPECT_THAT(parse_sms({}), ElementsAre());
}

TEST(SomeSmsTest, what_is_no_sm_is_refused_by_name) {
  for (const char* text : {"", "x", "3-", "-3", "5-2", "1.5", "99999999999", "4 "}) {
    EXPECT_THROW(parse_sms({text}), ConfigError) << text;
  }
}

/// A GPU of eight SMs that keeps what it was asked, and answers from the SMs asked, or from all.
class AskedDevice final : public test::StubDevice {
 public:
  explicit AskedDevice(ProbeSpec& asked) : StubDevice(8), asked_(asked) {}

 protected:
  Trace play(const ProbeSpec& spec) override {
    asked_ = spec;
    Trace trace;
    std::vector<int> sms{0, 1, 2, 3, 4, 5, 6, 7};
    if (const auto* clock = std::get_if<ClockProbe>(&spec)) sms = clock->sms;
    if (const auto* stream = std::get_if<StreamProbe>(&spec)) sms = stream->sms;
    if (std::holds_alternative<HostProbe>(spec)) sms = {-1};
    for (int sm : sms) trace.lanes.emplace_back().sm = sm;
    return trace;
  }

 private:
  ProbeSpec& asked_;
};

std::vector<int> sms_of(const Trace& trace) {
  std::vector<int> sms;
  for (const LaneTrace& lane : trace.lanes) sms.push_back(lane.sm);
  return sms;
}

class LimitedTest : public testing::Test {
 protected:
  ProbeSpec asked_;
  AskedDevice whole_{asked_};
  std::unique_ptr<Device> device_ = limit_to_sms(whole_, {2, 5, 6});
};

TEST_F(LimitedTest, probes_reach_the_sms_that_are_meant_and_answers_come_from_them) {
  EXPECT_EQ(device_->info().sm_count, 3);
  EXPECT_THROW(device_->run(ClockProbe{.sms = {3}, .samples = 1}), Error);
  const Trace trace = device_->run(ClockProbe{.sms = {2, 0}, .samples = 1});

  EXPECT_THAT(std::get<ClockProbe>(asked_).sms, ElementsAre(6, 2));
  EXPECT_THAT(sms_of(trace), ElementsAre(2, 0));
  EXPECT_EQ(device_->sm_of_gpu(1), 5);
}

TEST_F(LimitedTest, lanes_co_runners_and_lone_sms_are_translated) {
  ChaseProbe chase;
  chase.buffer_bytes = 64;
  chase.lanes = {{.sm = 1, .offsets_bytes = {0}}};
  chase.co_runners = {{.sm = 2}};
  chase.timed_accesses = 1;
  chase.recorded_accesses = 1;
  EXPECT_ANY_THROW(device_->run(chase));  // this GPU answers with other lanes
  EXPECT_EQ(std::get<ChaseProbe>(asked_).lanes.at(0).sm, 5);
  EXPECT_EQ(std::get<ChaseProbe>(asked_).co_runners.at(0).sm, 6);

  const Trace trace =
      device_->run(HostProbe{.kind = HostKind::latency, .bytes = 256, .accesses = 1, .sm = 2});
  EXPECT_EQ(std::get<HostProbe>(asked_).sm, 6);
  EXPECT_THAT(sms_of(trace), ElementsAre(-1)) << "a lane without an SM stays";
}

TEST_F(LimitedTest, all_sms_are_those_it_has) {
  StreamProbe stream;
  stream.blocks = 3;
  stream.block_threads = 32;
  stream.footprint_bytes = 64;
  device_->run(stream);
  EXPECT_THAT(std::get<StreamProbe>(asked_).sms, ElementsAre(2, 5, 6));

  const Trace copies = device_->run(SharedStreamProbe{.block_threads = 32});
  EXPECT_THAT(sms_of(copies), ElementsAre(0, 1, 2)) << "those of other SMs are left out";
}

TEST_F(LimitedTest, clusters_and_streams_whose_blocks_run_everywhere_are_refused) {
  EXPECT_THROW(device_->run(ClusterProbe{}), DeviceError);
  EXPECT_THROW(device_->run(DsmProbe{.accesses = 1}), DeviceError);
  StreamProbe bulk;
  bulk.engine = StreamEngine::bulk;
  bulk.blocks = 3;
  bulk.block_threads = bulk_threads;
  bulk.footprint_bytes = 512;
  EXPECT_THROW(device_->run(bulk), DeviceError);
}

TEST(SomeSmsTest, an_sm_that_the_gpu_lacks_is_refused) {
  ProbeSpec asked;
  AskedDevice whole(asked);
  EXPECT_THAT(
      [&] {
        limit_to_sms(whole, {3, 8});
      },
      testing::ThrowsMessage<DeviceError>(HasSubstr("no SM 8")));
}

}  // namespace
}  // namespace sonde
