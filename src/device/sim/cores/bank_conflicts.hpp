// Banks of shared memory: how many passes one warp's access takes.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/model/model.hpp"

#include <span>

namespace sonde::sim {

/// Passes over the banks for one access: the threads go in as many groups as their words fill all
/// banks, and each group takes as many passes as its busiest bank has different rows to read. Words
/// in one row of a bank come in the same pass, so a broadcast costs nothing (Mei and Chu 2016,
/// section 6.2).
std::uint32_t count_passes(const SharedModel& shared, BankMode mode, int element_bytes,
                           std::span<const std::uint32_t> offsets_bytes);

/// Threads that the busiest bank serves one after the other in an atomic operation.
/// Additions of 1 to one word are one turn where the GPU counts them up.
std::uint32_t count_atomic_turns(const SharedModel& shared, AtomicForm form,
                                 std::span<const std::uint32_t> offsets_bytes);

}  // namespace sonde::sim
