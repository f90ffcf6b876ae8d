// What makes one specimen of a model different from the next: names, which TPCs are switched off,
// how far each SM and slice lies from the middle, and where its memory lies among the addresses
// that programs see. Everything follows from the seed of the die.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/model/faults.hpp"

namespace sonde::sim {

struct SmPlace {
  int tpc = 0;
  int gpc = 0;
  int tpc_of_gpc = 0;  // number of its TPC among those of its GPC that work
  int partition = 0;   // of the L2, that serves it first
  int side = 0;        // of the chip, on which some of the slices are near
};

struct Die {
  std::uint64_t seed = 0;
  DeviceInfo info;                   // the model's, with the names of this die
  std::uint64_t memory_address = 0;  // of its first byte, as programs see it
  std::vector<SmPlace> sms;
  std::vector<std::vector<std::int32_t>> cache_offset_cycles;  // by cache, then SM
  std::vector<std::int32_t> slice_offset_cycles;               // [side of the SM][partition][slice]
  std::vector<double> dsm_offset_cycles;         // by SM, of distributed shared memory; else empty
  std::vector<LostWay> lost_ways;                // from faults
  std::vector<std::uint32_t> slow_sm_cycles;     // by SM, from faults
  std::vector<double> tpc_port_bytes_per_cycle;  // by TPC, less for those with a fault
  std::vector<std::uint64_t> clock_base_cycles;  // by SM: what it read at time 0
};

/// Seed of the die that a rank of the world gets.
std::uint64_t die_seed(std::uint64_t seed, int world_rank);

std::string make_uuid(std::uint64_t seed_of_die);

Die make_die(const Model& model, const Faults& faults, std::uint64_t seed_of_die);

/// Number of the instance that serves an SM, among those of this scope.
int instance_of(const SmPlace& place, int sm, Scope scope);

/// The first address of the memory among those that programs see: a multiple of what buffers begin
/// at, anywhere in 47 bits.
std::uint64_t draw_memory_address(const Model& model, std::uint64_t seed_of_die);

/// The offset in memory that this die drew for a place: a multiple of the largest power of two up
/// to 512 MiB that leaves four to draw from, and in any case of a page, of what stays together
/// physically, of every TLB entry, of the page-table window and, where that leaves a choice, of the
/// period of modulo indexes with sets of unequal width. So wherever a buffer lies, it begins with
/// an entry, a window and the first set of such caches. Buffers of one place begin together, but
/// for those that do not fit there: they get an offset of their own, or 0 where the memory leaves
/// no choice.
std::uint64_t draw_buffer_offset(const Model& model, std::uint64_t seed_of_die, Place place,
                                 std::uint64_t buffer_bytes);

}  // namespace sonde::sim
