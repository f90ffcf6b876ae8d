// Errors of links and of the driver's log: what the job host adds to what the job device saw.
#include "jobs/suite.hpp"
#include "support/stub_device.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <optional>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A GPU that can be asked about its links and its errors, and refuses all probes.
class ToldDevice final : public test::StubDevice {
 public:
  Links links() override { return links_; }
  XidLog xids() override { return log_; }

  Links links_{
      .pcie = {.generation = 5, .width = 16, .most_generation = 5, .most_width = 16, .replays = 0}};
  XidLog log_;

 protected:
  Trace play(const ProbeSpec&) override { throw DeviceError("it plays nothing"); }
};

NvLink link(int number, std::optional<std::uint64_t> errors) {
  return {.number = number,
          .active = errors.has_value(),
          .crc_errors = errors,
          .replays = errors,
          .recoveries = errors};
}

class NewErrorsTest : public testing::Test {
 protected:
  /// What the device says before the first job is what it says now.
  void look_before() { measure("device"); }
  void look_after() { measure("host"); }

  const Finding& find(const char* metric) const {
    for (const JobResult& job : results_) {
      if (const Finding* finding = find_finding(job.findings, metric)) return *finding;
    }
    ADD_FAILURE() << "no finding " << metric;
    static const Finding none;
    return none;
  }
  double number(const char* metric) const {
    const auto* value = std::get_if<double>(&find(metric).value);
    return value != nullptr ? *value : std::nan("");
  }
  std::vector<double> list(const char* metric) const {
    const auto* values = std::get_if<std::vector<double>>(&find(metric).value);
    return values != nullptr ? *values : std::vector<double>{-1};
  }

  ToldDevice device_;

 private:
  void measure(const char* name) {
    const auto jobs = select_jobs(SuiteLevel::quick, {name});
    results_.push_back(
        run_job(*jobs.back(), device_, SuiteLevel::quick, 1, results_, 60, {}).result);
  }
  std::vector<JobResult> results_;
};

/// Those of PCIe were reset since, and begin at zero again.
TEST_F(NewErrorsTest, errors_since_the_first_job_or_a_reset_are_new) {
  device_.links_.pcie.replays = 7;
  device_.links_.nvlinks = {link(0, 2), link(1, 10)};
  look_before();
  device_.links_.pcie.replays = 3;
  device_.links_.nvlinks = {link(0, 2), link(1, 14)};
  look_after();

  EXPECT_EQ(number("device.pcie_replays"), 7);
  EXPECT_THAT(list("device.nvlink_errors"), ElementsAre(6, 30));
  EXPECT_EQ(number("host.pcie_replays"), 3);
  EXPECT_EQ(number("host.new_pcie_replays"), 3);
  EXPECT_EQ(number("host.new_nvlink_errors"), 12);
  EXPECT_THAT(list("host.new_nvlink_errors_by_link"), ElementsAre(0, 12));
}

TEST_F(NewErrorsTest, an_inactive_link_does_not_hide_the_errors_of_others) {
  device_.links_.nvlinks = {link(0, std::nullopt), link(1, 1)};
  look_before();
  device_.links_.nvlinks = {link(0, std::nullopt), link(1, 2)};
  look_after();

  EXPECT_EQ(number("host.new_nvlink_errors"), 3);
  EXPECT_TRUE(std::isnan(list("host.new_nvlink_errors_by_link").at(0)));
  EXPECT_EQ(list("host.nvlink_replays").at(1), 2);
}

/// The log has lost its oldest line.
TEST_F(NewErrorsTest, codes_that_came_since_are_new) {
  device_.log_.codes = {31, 13, 13};
  look_before();
  device_.log_.codes = {13, 13, 48};
  look_after();

  EXPECT_THAT(list("device.xids"), ElementsAre(31, 13, 13));
  EXPECT_THAT(list("host.new_xids"), ElementsAre(48));
  EXPECT_EQ(find("host.xids").reason, "Xid 13: 2, Xid 48: 1");
}

TEST_F(NewErrorsTest, an_empty_log_is_an_answer) {
  look_before();
  look_after();

  EXPECT_EQ(find("host.xids").status, Status::ok);
  EXPECT_THAT(list("host.xids"), IsEmpty());
  EXPECT_THAT(list("host.new_xids"), IsEmpty());
  EXPECT_EQ(find("host.new_nvlink_errors_by_link").status, Status::not_present);
}

TEST_F(NewErrorsTest, what_was_not_told_before_cannot_be_new) {
  device_.links_ = {};
  device_.log_.unreadable = "no permission";
  look_before();
  device_.links_.pcie.replays = 5;
  device_.links_.nvlinks = {link(0, 5)};
  device_.log_ = {.codes = {79}};
  look_after();

  EXPECT_EQ(number("host.pcie_replays"), 5);
  for (const char* metric : {"host.new_pcie_replays", "host.new_nvlink_errors",
                             "host.new_nvlink_errors_by_link", "host.new_xids"}) {
    EXPECT_EQ(find(metric).status, Status::not_resolvable) << metric;
    EXPECT_NE(find(metric).reason, "") << metric;
  }
}

}  // namespace
}  // namespace sonde
