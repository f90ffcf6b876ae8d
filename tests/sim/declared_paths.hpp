// The parts of declared_suite.hpp, one for each family of metrics.
#pragma once

#include "sim/declared_suite.hpp"

#include <map>

namespace sonde::test {

/// Places in Model::caches by the name that jobs give a cache: "l1", "texture_l2", "l2".
using NamedCaches = std::map<std::string, std::size_t, std::less<>>;
NamedCaches name_caches(const sim::Model& model);

/// Whether anything tells the GPCs: groups of TPCs that clusters, clocks or a port have in common.
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
