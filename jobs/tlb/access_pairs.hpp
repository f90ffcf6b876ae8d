// Pairs of accesses of which only the first needs a translation: the lines that they access, and
// the lines that evict them from data caches. Pure.
#pragma once

#include "base/units.hpp"
#include "jobs/chase/access_order.hpp"

namespace sonde {

/// The second access of a pair: the same line; the next block, if a cache before the L2 would serve
/// the same line; or a line in the other half of the smallest page, if more pages are accessed than
/// the L2 keeps lines of. In the last case each access is the first one to its line since a flush
/// (passes_over_new_lines), and the memory serves it.
enum class SecondAccess { same_line, next_block, from_memory };

/// Order of the two lines of a pair. Using both orders cancels the difference of the lines'
/// latencies.
enum class Turn { as_listed, swapped };

/// The orders that a kind of pairs needs.
std::vector<Turn> turns_of(SecondAccess second_access);

/// Each place of a list twice in a row.
Offsets twice_each(const Offsets& places);

/// Replaces pairs (equal neighbours) by the chased lines. Single accesses use the same places in
/// both orders, so that their effect on data caches cancels; at most four per sector at first.
/// @pre second accesses do not come from memory
Offsets place_second_accesses(Offsets offsets, SecondAccess second_access, Turn turn);

inline constexpr std::uint64_t sweep_start_bytes = 64_KiB;  // after the lines of the first page

/// Lines that empty a cache of half this size; all in one page if it is large enough. Each is
/// accessed twice, as some policies protect lines with a hit from lines without one.
Offsets sweep_lines(std::uint64_t bytes);

}  // namespace sonde
