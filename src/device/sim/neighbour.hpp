// Another process on a simulated GPU: what it does to the SMs that it uses, too.
#pragma once

#include "device/sim/faults.hpp"
#include "trace/trace.hpp"

namespace sonde::sim {

/// The GPU gives the time of some SMs to both processes in turn: in a share of the probes they take
/// 1.5 to 2.6 times as long. Two real H100s showed one SM so beside a process that copied memory.
/// @param seed_of_die draws which SMs
/// @param seed of the probe: draws which of them are late in it, and by how much
void share_sms(const Neighbour& neighbour, int sm_count, std::uint64_t seed_of_die,
               std::uint64_t seed, Trace& trace);

}  // namespace sonde::sim
