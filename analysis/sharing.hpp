// Which SMs share a cache or a TLB, and which caches are one, from what loads find there: the
// inference of the job sharing (docs/methods/sharing.md) and of the scopes of TLBs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

/// What a chase loses of what it holds alone.
enum class Loss { none, unclear, some };

/// Chases that fill 0.7 of a cache each: alone they hit, two in one cache lose a good part.
/// @param alone, together shares of accesses that miss, alone and while another one chases
/// @return unclear, too, if the chase misses much when it is alone
Loss judge_loss(double alone, double together);

/// Of lines that others have just loaded, what an SM finds in a cache.
enum class Found { none, unclear, all };

/// What an SM misses of lines in one cache.
struct MissedShares {
  double own = 0;    // lines that it has just loaded itself
  double fresh = 0;  // lines that nobody has loaded
};

/// Of 64 loads of its own lines and more, outliers and lines that a policy lost are few.
inline constexpr double most_missed_of_own = 0.15;

/// Whether own lines are found and new ones are not, so that those of others tell something.
bool tell_lines_apart(const MissedShares& missed);

/// Lines of others are either as own ones or as new ones.
/// @param of_others share of them that misses  @pre tell_lines_apart(missed)
Found judge_found(const MissedShares& missed, double of_others);

/// SMs whose lines another one finds.
struct Sharers {
  std::vector<int> sms;      // in the order they were asked in
  std::vector<int> unclear;  // neither these nor none
};

/// By halves: a group of whose lines none is found is asked once, a single one decides.
/// @param found_of what is found of lines that all of these have just loaded
Sharers find_sharers(const std::vector<int>& others,
                     const std::function<Found(const std::vector<int>&)>& found_of);

/// Groups of SMs as the topology job found them; empty: not known.
struct KnownGroups {
  std::vector<double> tpc_of_sm = {};  // index: SM; -1: not known
  std::vector<double> gpc_of_sm = {};
  double tpc_confidence = 1;
  double gpc_confidence = 1;
};

/// What the SMs that share something are.
struct ScopeName {
  std::optional<std::string> name;  // nothing if neither groups nor numbers tell
  double confidence = 0;
  std::string remark = {};
};

/// "sm", "tpc", "gpc", "part of a gpc", "partition" (several whole GPCs) or "device". Without known
/// TPCs two SMs with numbers in a row are one; three may be a TPC (GT200, Wong 2010) or a GPC.
/// @param sharing ascending, SM 0 among them
ScopeName name_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups);

/// The same where GPCs are not known, of more SMs than a TPC has: by their number "gpc", or "part
/// of a gpc" if they are fewer than any GPC of so large a GPU has; never "partition".
ScopeName guess_scope(const std::vector<int>& sharing, int sm_count, const KnownGroups& groups);

/// Whether the L1 and shared memory are one array: the L1 loses what shared memory gets.
/// @param carveout_bytes ascending, @param size_bytes of the L1 with each of them
/// @return nothing if the sizes follow neither rule, or there is one carve-out
std::optional<bool> shrinks_with_carveout(const std::vector<double>& carveout_bytes,
                                          const std::vector<double>& size_bytes);

}  // namespace sonde
