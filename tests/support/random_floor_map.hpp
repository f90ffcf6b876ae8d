// Chips whose map of SMs nobody has built: for the tests of the job topology.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::test {

/// The model file (docs/simulated-gpus.md) of a GPU with a drawn chip: 4 to 12 GPCs of 3 to 9 TPCs
/// of 1 to 3 SMs, up to a third of the TPCs switched off, either numbering, with clusters or
/// without, clocks of any scope, ports of TPCs and GPCs that several SMs overload or not. All else
/// is that of the shipped gtx980. Something always tells GPCs: clusters that reach beyond TPCs, or
/// clocks.
std::string draw_floor_map(std::uint64_t seed);

}  // namespace sonde::test
