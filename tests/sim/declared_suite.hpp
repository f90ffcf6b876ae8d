// All that a suite ought to find of a simulated GPU, as far as its file declares it: the caches and
// TLBs of declared_structure.hpp, and those of textures, constants and code, latencies, who shares
// what, clocks and groups of SMs.
#pragma once

#include "device/sim/die.hpp"
#include "sim/declared_structure.hpp"

namespace sonde::test {

/// @param carveouts_bytes all shared parts that hold a record, the one that jobs on caches take
/// first; empty: none can be chosen
std::vector<DeclaredValue> declared_suite(const sim::Model& model, const sim::Die& die,
                                          const std::vector<std::uint64_t>& carveouts_bytes);

}  // namespace sonde::test
