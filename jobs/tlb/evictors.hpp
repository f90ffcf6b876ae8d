// Which entries push others out of the inner levels of a TLB.
#pragma once

#include "jobs/sets/sets_probe.hpp"
#include "jobs/tlb/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

namespace sonde {

/// Where one of the translations begins that an entry, or an inner one if that is smaller, has: in
/// bytes from its begin. Equal numbers give the same one.
std::uint64_t any_translation(const TlbUnderTest& tlb, std::uint64_t number);

/// One entry under each of `count` inner entries in a row from `first_bytes` on, each at another of
/// its translations: levels of smaller entries may choose their sets by those.
PassEvictors entries_in_a_row(const TlbUnderTest& tlb, std::uint64_t first_bytes,
                              std::uint64_t count);

/// Entries at random, each under an inner entry of its own and of none of those in `taken`: as many
/// as so many draws find.
Lines draw_entries(const TlbUnderTest& tlb, const LinePool& pool, std::set<std::uint64_t> taken,
                   std::size_t draws);

}  // namespace sonde
