// All that a suite ought to find of a simulated GPU, as far as its file declares it: the caches and
// TLBs of declared_structure.hpp, and those of textures, constants and code, latencies, who shares
// what, clocks and groups of SMs.
#pragma once

#include "device/device.hpp"
#include "device/sim/model/die.hpp"
#include "sim/score/declared_structure.hpp"

#include <map>

namespace sonde::test {

/// Shared parts that hold a record, the one that jobs on caches take first; empty: none can be
/// chosen.
std::vector<std::uint64_t> recordable_carveouts(const Device& device);

/// @param seed of the die
std::vector<DeclaredValue> declared_suite(const sim::Model& model, std::uint64_t seed,
                                          const Device& device);

// Its parts, one for each family of metrics.

/// Places in Model::caches by the name that jobs give a cache: "l1", "texture_l2", "l2".
using NamedCaches = std::map<std::string, std::size_t, std::less<>>;
NamedCaches name_caches(const sim::Model& model);

/// Whether anything tells the GPCs: groups of TPCs that clusters or clocks have in common.
/// Where all of the device have them in common, or none has, nothing does; nor where a group may be
/// a TPC of three SMs.
bool shows_gpcs(const sim::Model& model);

void declare_side_caches(std::vector<DeclaredValue>& values, const sim::Model& model,
                         std::uint64_t carveout_bytes);
void declare_latencies(std::vector<DeclaredValue>& values, const sim::Model& model,
                       const sim::Die& die);
void declare_sharing(std::vector<DeclaredValue>& values, const sim::Model& model,
                     const sim::Die& die);

}  // namespace sonde::test
