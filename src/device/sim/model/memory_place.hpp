// Where the memory lies among the addresses that programs see, and buffers in the memory: drawn for
// a die, as a driver gives other ones to each process.
#pragma once

#include "device/probe/probe.hpp"
#include "device/sim/model/model.hpp"

namespace sonde::sim {

/// The first address of the memory: a multiple of what buffers begin at, anywhere in 47 bits.
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
