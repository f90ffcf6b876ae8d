// How one die of a model differs from the next: names, the TPCs that are switched off, the distance
// of each SM and slice, and the addresses of its memory. All follows from the seed of the die.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/model/faults.hpp"

namespace sonde::sim {

/// An SM of a die: where it lies, and how it differs from others.
struct DieSm {
  int tpc = 0;
  int gpc = 0;
  int tpc_of_gpc = 0;                   // number of its TPC among the working TPCs of its GPC
  int partition = 0;                    // L2 partition that serves it first
  int side = 0;                         // side of the chip; each slice is near to one side
  std::uint32_t slow_cycles = 0;        // later is each of its loads, from faults
  double dsm_offset_cycles = 0;         // of distributed shared memory
  std::uint64_t clock_base_cycles = 0;  // its clock at time 0
};

struct Die {
  std::uint64_t seed = 0;
  DeviceInfo info;                   // the model's, with the names of this die
  std::uint64_t memory_address = 0;  // of its first byte, as programs see it
  std::vector<DieSm> sms;
  std::vector<std::vector<std::int32_t>> cache_offset_cycles;  // [cache][SM]
  std::vector<std::int32_t> slice_offset_cycles;               // [side of the SM][partition][slice]
  std::vector<LostWay> lost_ways;                              // from faults
  std::vector<double> tpc_port_bytes_per_cycle;                // by TPC; faults lower it

  const DieSm& sm(int number) const { return sms[static_cast<std::size_t>(number)]; }
};

/// Seed of the die that a rank of MPI_COMM_WORLD measures.
std::uint64_t die_seed(std::uint64_t seed, int world_rank);

/// A UUID in the form of NVIDIA: "GPU-" and five groups of hexadecimal digits.
std::string make_uuid(std::uint64_t seed_of_die);

/// Draws a die, and slows or removes the parts that the faults name.
Die make_die(const Model& model, const Faults& faults, std::uint64_t seed_of_die);

/// Number of the unit of this scope (SM, TPC, ...) that serves an SM.
int instance_of(const DieSm& place, int sm, Scope scope);

/// Draws the first address of the memory: a multiple of the alignment of buffers, within 47 bits.
std::uint64_t draw_memory_address(const Model& model, std::uint64_t seed_of_die);

/// Draws the offset in memory that belongs to a place: a multiple of the largest power of two, at
/// most 512 MiB, that leaves four offsets to draw from. In any case it is a multiple of a page, of
/// a physically contiguous block, of every TLB entry and of the page-table window; and of the
/// period of modulo indexes over sets of unequal width, if that leaves a choice. So each buffer
/// begins with an entry, a window and the first set of such caches. Buffers of one place begin at
/// the same offset, except a buffer that does not fit there: its offset is drawn again, or is 0 if
/// the memory leaves no choice.
std::uint64_t draw_buffer_offset(const Model& model, std::uint64_t seed_of_die, Place place,
                                 std::uint64_t buffer_bytes);

}  // namespace sonde::sim
