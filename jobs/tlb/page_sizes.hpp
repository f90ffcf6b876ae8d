// Whether all of the memory has pages of one size.
#pragma once

#include "jobs/tlb/geometry.hpp"

namespace sonde {

/// Pages of two sizes, each in parts of the memory: what the smaller ones are, and of how many
/// places that were asked.
struct MixedPages {
  std::uint64_t small_bytes = 0;
  double small_share = 0;  // of the places
  std::uint64_t places = 0;
};

/// Two neighbours in each of many places all over the memory: where some need one translation and
/// others two, there are pages of two sizes. nullopt if there is one size, or it does not show.
/// @param first_level the innermost level of the TLB, with its granularity
std::optional<MixedPages> find_mixed_pages(const TlbUnderTest& first_level);

}  // namespace sonde
