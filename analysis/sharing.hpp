// Which SMs share a cache or a TLB, and which caches are one array, by what loads hit: inference of
// the job sharing (docs/methods/sharing.md) and of the scopes of TLBs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// How much a chase loses to another chase.
enum class Loss { none, unclear, some };

/// For chases that fill 0.7 of a cache each: alone they hit, two in one cache miss often.
/// @param alone, together fractions of accesses that miss, alone and during another chase
/// @return unclear also if the chase misses often when it is alone
Loss judge_loss(double alone, double together);

/// Groups of SMs from the topology job; empty: unknown.
struct KnownGroups {
  std::vector<double> tpc_of_sm = {};  // by SM; -1: unknown
  std::vector<double> gpc_of_sm = {};
  double tpc_confidence = 1;
  double gpc_confidence = 1;
};

/// Name for the SMs that share something.
struct ScopeName {
  std::optional<std::string> name;  // nothing if neither groups nor SM numbers decide
  double confidence = 0;
  std::string remark = {};
};

/// "sm", "tpc", "gpc", "part of a gpc", "partition" (several whole GPCs) or "device". If TPCs are
/// unknown, two SMs with consecutive numbers are a TPC; three may be a TPC (GT200, Wong 2010) or a
/// GPC.
/// @param sharing ascending, with SM 0
ScopeName name_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups);

/// The same if GPCs are unknown and the SMs are more than a TPC has: "gpc", or "part of a gpc" if
/// they are fewer than a GPC of so large a GPU has. Never "partition".
ScopeName guess_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups);

/// True if the L1 and shared memory are one array: the L1 loses what shared memory gets.
/// @param carveout_bytes ascending, @param size_bytes of the L1 with each carve-out
/// @return nothing if the sizes fit neither case, or if there is only one carve-out
std::optional<bool> shrinks_with_carveout(const std::vector<double>& carveout_bytes,
                                          const std::vector<double>& size_bytes);

}  // namespace sonde
