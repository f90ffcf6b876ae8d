// The probe of arithmetic: a part of the seam (probe.hpp).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

/// One block of `warps` warps on each SM makes chains of an operation (Wong 2010, section IV-B). A
/// thread makes `ilp` independent chains of `steps` steps; each step needs the result of the step
/// before. With a `second` operation it makes as many chains of that, and steps of both by turns.
/// One lane for each SM: elapsed_cycles from the start of its first warp to the end of its last
/// one, and as accesses the steps of `op` that its warps made.
struct ArithmeticProbe {
  std::string op;           // a name of base/arithmetic_ops.hpp
  std::string second = {};  // empty: none
  int warps = 1;
  int ilp = 1;
  std::uint64_t steps = 0;    // steps x ilp is a multiple of arithmetic_round
  std::vector<int> sms = {};  // empty: all
};
/// A multiple of the steps of all chains of a thread in one round of any kernel's loop.
inline constexpr std::uint64_t arithmetic_round = 256;

/// Parts of describe_probe and validate_probe.
nlohmann::json describe(const ArithmeticProbe& probe);
void check(const ArithmeticProbe& probe, int sm_count);

}  // namespace sonde
