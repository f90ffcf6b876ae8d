// Who left the set, miss by miss, in cyclic chases of one line more than it has ways: the ground of
// everything that is said about random replacement.
#pragma once

#include "analysis/structure/replacement/access_record.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde {

struct Victim {
  std::uint32_t way = 0;           // ways are numbered in the order of their first fill
  std::uint32_t recency_rank = 0;  // 1: the line used last before the miss, ways: the oldest
  std::optional<std::uint32_t> previous_way;  // of the victim before; none at a record's start
};

/// Victims of cyclic_trace(ways, ...): exactly one of the ways + 1 lines is absent, so the line
/// that misses next is the one that the last miss pushed out (Mei and Chu 2016, section 4.5 traces
/// the Fermi L1 so). Reading of a record ends where it contradicts itself. An outlier swaps
/// two ways for the rest of its record: many short records are better than one long one.
/// @throws Error if a record is no cyclic chase from line 0 on
std::vector<Victim> trace_victims(std::uint32_t ways, const std::vector<AccessRecord>& records);

/// How the victims spread over the ways, and whether the one before decides the next.
struct VictimSpread {
  std::size_t victims = 0;
  std::vector<double> way_share;
  double uniform_p_value = 1;   // that ways are equal: chi-square (neighbouring ways together where
                                // they are many), and the favourite way alone
  double uniform_distance = 0;  // total variation distance from equal shares, 0..1
  double history_association = 0;  // Cramer's V of a victim and the one before, bias-corrected:
                                   // 0 independent .. 1 decided
};

/// @param ways number of ways; @pre each victim's way is below
VictimSpread spread_of(std::uint32_t ways, const std::vector<Victim>& victims);

}  // namespace sonde
