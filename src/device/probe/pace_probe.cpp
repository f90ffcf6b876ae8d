// Description and checks of the probes of launches and clocks.
#include "device/probe/pace_probe.hpp"

#include "base/enum_text.hpp"
#include "base/error.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

namespace sonde {
namespace {

constexpr EnumName<SmWork> work_names[]{{SmWork::none, "none"}, {SmWork::arithmetic, "arithmetic"}};

/// A longer probe is a mistake.
constexpr std::uint64_t longest_ns = 10'000'000'000;

}  // namespace

nlohmann::json describe(const LaunchProbe& probe) {
  return {{"launches", probe.launches},
          {"blocks", probe.blocks},
          {"busy_ns", probe.busy_ns},
          {"repeats", probe.repeats}};
}

nlohmann::json describe(const PaceProbe& probe) {
  return {{"work", name_of(work_names, probe.work)},
          {"samples", probe.samples},
          {"interval_ns", probe.interval_ns}};
}

void check(const LaunchProbe& probe, int) {
  require(probe.launches > 0 && probe.blocks > 0 && probe.repeats > 0,
          "a probe of launches needs positive counts");
  require(probe.busy_ns <= longest_ns / static_cast<std::uint64_t>(probe.launches),
          "the launches of a probe must not last longer than 10 s");
}

void check(const PaceProbe& probe, int sm_count) {
  check_sms(probe.sms, sm_count);
  require(!probe.sms.empty() && probe.samples > 1 && probe.interval_ns > 0,
          "a probe of the clocks' pace needs SMs, two samples and an interval");
  require(probe.interval_ns <= longest_ns / probe.samples,
          "a probe of the clocks' pace must not last longer than 10 s");
}

}  // namespace sonde
