// Models that are wrong on purpose: a message that names file and key, and no memory taken.
#include "engine_support.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace sonde::sim {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ModelLimitsTest, sets_and_ways_are_bounded_before_they_are_written_down) {
  json model = quiet_json("h200");
  for (const char* key : {"sets", "ways"}) model["pages"]["tlbs"][0].erase(key);
  const auto with = [&](std::uint64_t sets, std::uint64_t ways) {
    const json run{{"sets", sets}, {"ways", ways}};
    return complaint_about(model, "/pages/tlbs/0/ways_per_set", json::array({run}));
  };
  EXPECT_THAT(with(2147483647, 1), HasSubstr("mine.json.pages.tlbs[0].ways_per_set[0].sets must"));
  EXPECT_THAT(with(1, 2147483647), HasSubstr("mine.json.pages.tlbs[0].ways_per_set[0].ways must"));
  EXPECT_THAT(with(1 << 20, 1 << 16),
              AllOf(HasSubstr("mine.json.pages.tlbs[0].ways_per_set"), HasSubstr("512 MiB")));
}

TEST(ModelLimitsTest, many_arrays_that_would_each_do_are_refused_together) {
  json model = quiet_json("h200");
  EXPECT_THAT(complaint_about(model, "/pages/page_bytes", 1), HasSubstr("page_bytes"));
  const json chip{
      {"gpcs", 256}, {"tpcs_per_gpc", 256}, {"sms_per_tpc", 256}, {"numbering", "round_robin"}};
  EXPECT_THAT(complaint_about(model, "/chip", chip), HasSubstr("mine.json.chip.sms_per_tpc"));
  model["device"]["memory_bytes"] = "8192 GiB";
  EXPECT_THAT(complaint_about(model, "/pages/page_bytes", 512),
              AllOf(HasSubstr("mine.json.pages.page_bytes"), HasSubstr("512 MiB")));
  model = quiet_json("h200");
  for (int i = 0; i < 100; ++i) {
    model["caches"].push_back(model["caches"][0]);
    model["caches"].back()["name"] = "more" + std::to_string(i);
  }
  EXPECT_THAT(complaint_about(model), AllOf(HasSubstr("mine.json.caches["), HasSubstr("512 MiB")));
}

/// Every number of a model, one after the other, by its place in the text.
void for_each_number(json& part, const std::function<void(json&)>& visit) {
  if (part.is_number()) return visit(part);
  if (!part.is_structured()) return;
  for (json& item : part) for_each_number(item, visit);
}

/// Each number of the model in turn becomes each of these, and is refused.
void expect_refused(json model, const std::vector<json>& hostile_values) {
  for_each_number(model, [&](json& number) {
    const json declared = number;
    for (const json& hostile : hostile_values) {
      number = hostile;
      EXPECT_THAT(complaint_about(model), StartsWith("mine.json."))
          << declared << " became " << hostile;
    }
    number = declared;
  });
}

TEST(ModelLimitsTest, no_number_may_be_endless) {
  expect_refused(quiet_json("h200"), {1e300, -1e300, std::numeric_limits<std::uint64_t>::max()});
}

TEST(ModelLimitsTest, only_distances_may_be_negative) {
  json model = quiet_json("h200");
  equalise_distances(model);
  expect_refused(model, {-1});
}

TEST(ModelLimitsTest, every_value_of_another_type_is_refused) {
  expect_refused(quiet_json("gtx980"), {"text", true, nullptr, json::object()});
}

TEST(ModelLimitsTest, what_json_itself_forbids_is_told) {
  EXPECT_THAT(complaint_about_text(R"({"source": NaN})"), HasSubstr("no JSON"));
  EXPECT_THAT(complaint_about_text(R"({"source": 1e999})"), HasSubstr("no JSON"));
  EXPECT_THAT(complaint_about_text("{\"source\": \"gr\xf6\"}"), HasSubstr("no JSON"));
  EXPECT_THAT(complaint_about_text(R"({"source": "a", "chip": {"gpcs": 1, "gpcs": 2}})"),
              AllOf(HasSubstr("\"gpcs\" twice"), HasSubstr("mine.json")));
  EXPECT_THAT(complaint_about_text(std::string(1 << 20, '[')), HasSubstr("without end"));
  EXPECT_THAT(complaint_about_text("[]"), HasSubstr("must be an object"));
  const json model = quiet_json("h200");
  EXPECT_THAT(complaint_about(model, "/device/name", "a\x1b[31m"),
              HasSubstr("mine.json.device.name must not hold control characters"));
  EXPECT_THAT(complaint_about(model, "/source", std::string(5000, 'x')), HasSubstr("too long"));
}

}  // namespace
}  // namespace sonde::sim
