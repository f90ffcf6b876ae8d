// The probe of arithmetic: a part of the seam (probe.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// `warps` warps of one block on each SM make chains of an operation, each step on what the one
/// before made: `ilp` chains a thread that have nothing to do with each other, `steps` steps each.
/// With a `second` operation, as many chains of it, and steps of both by turns. One lane for each
/// SM: elapsed_cycles from its first warp's start to its last warp's end, accesses: steps of `op`
/// that its warps made (Wong 2010, section IV-B).
struct ArithmeticProbe {
  std::string op;           // base/arithmetic_ops.hpp
  std::string second = {};  // empty: none
  int warps = 1;
  int ilp = 1;
  std::uint64_t steps = 0;    // times ilp, a multiple of arithmetic_round
  std::vector<int> sms = {};  // empty: all
};
/// Steps of all chains of a thread in one round of a loop, which are not timed apart.
inline constexpr std::uint64_t arithmetic_round = 256;

/// Parts of describe_probe and validate_probe.
nlohmann::json describe(const ArithmeticProbe& probe);
void check(const ArithmeticProbe& probe, int sm_count);

}  // namespace sonde
