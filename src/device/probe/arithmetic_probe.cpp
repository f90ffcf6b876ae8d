// Checks and the JSON description of the probe of arithmetic.
#include "device/probe/arithmetic_probe.hpp"

#include "base/arithmetic_ops.hpp"
#include "base/error.hpp"
#include "device/probe/sm_list.hpp"

#include <nlohmann/json.hpp>

namespace sonde {

nlohmann::json describe(const ArithmeticProbe& probe) {
  nlohmann::json result = {
      {"op", probe.op}, {"warps", probe.warps}, {"ilp", probe.ilp}, {"steps", probe.steps}};
  if (!probe.second.empty()) result["second"] = probe.second;
  if (!probe.sms.empty()) result["sms"] = probe.sms;
  return result;
}

void check(const ArithmeticProbe& probe, int sm_count) {
  require(find_arithmetic_op(probe.op) != nullptr, "there is no operation '" + probe.op + "'");
  require(probe.second.empty() || find_arithmetic_op(probe.second) != nullptr,
          "there is no operation '" + probe.second + "'");
  require(probe.warps > 0 && probe.ilp > 0 && probe.steps > 0,
          "a probe of arithmetic needs positive counts");
  require(probe.warps % find_arithmetic_op(probe.op)->group_warps == 0,
          "warps must be a multiple of those that make a step of " + probe.op + " together");
  require(probe.steps * static_cast<std::uint64_t>(probe.ilp) % arithmetic_round == 0,
          "steps times ilp must be a multiple of 256");
  check_sms(probe.sms, sm_count);
}

}  // namespace sonde
