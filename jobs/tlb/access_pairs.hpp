// Pairs of accesses of which only the first needs a translation: where both of them go, and what
// pushes their lines out of data caches. Pure.
#pragma once

#include "base/units.hpp"
#include "jobs/chase/access_order.hpp"

namespace sonde {

/// What the second access of a pair loads: the same line; or, where a cache before the L2 would
/// then answer it, the block next to it; or, where the L2 keeps fewer lines than pages are
/// accessed, a line of the other half of the smallest page: each access then goes to a line that
/// nobody accessed since everything was flushed (passes_over_new_lines), and comes from the memory.
enum class SecondAccess { same_line, next_block, from_memory };

/// Where the two accesses of a pair go to different lines they also go the other way round, so that
/// what the lines take cancels.
enum class Turn { as_listed, swapped };

std::vector<Turn> turns_of(SecondAccess second_access);

/// Each place of a list twice in a row.
Offsets twice_each(const Offsets& places);

/// The list as it is chased: pairs are neighbours that are equal. Single accesses go to the same
/// places in both turns, four to a sector at most while there are sectors: what they push out of
/// data caches cancels, too.
/// @pre second accesses do not come from the memory
Offsets place_second_accesses(Offsets offsets, SecondAccess second_access, Turn turn);

inline constexpr std::uint64_t sweep_start_bytes = 64_KiB;  // behind the lines of the first page

/// Lines that empty a cache of half as many bytes: of one page, if it is large enough. Each is
/// accessed twice, since some policies protect lines that were hit from those accessed once.
Offsets sweep_lines(std::uint64_t bytes);

}  // namespace sonde
