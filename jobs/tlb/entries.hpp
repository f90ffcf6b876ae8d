// Entries of a TLB level as lists of addresses: which line of an entry is accessed, and in which
// order, so that neither data caches nor inner levels disturb. Pure.
#pragma once

#include "analysis/structure/sets/conflict_set.hpp"
#include "jobs/tlb/geometry.hpp"

namespace sonde {

/// A line of the granularity at `entry`, chosen at random, so that entries of one set do not meet
/// in caches.
/// @param shift takes others, one after the other
std::uint64_t line_under(const TlbUnderTest& tlb, std::uint64_t entry, std::uint64_t shift = 0);

/// The inner entry that an entry lies under, by its number.
std::uint64_t inner_entry(const TlbUnderTest& tlb, std::uint64_t entry);

/// Numbers of the entries in rounds: in each, every one lies under an inner entry of its own, so
/// that none answers for the next.
std::vector<std::vector<std::size_t>> rounds_of_accesses(const TlbUnderTest& tlb,
                                                         const Lines& entries);

}  // namespace sonde
