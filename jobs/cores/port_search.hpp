// Which SMs share the port of a TPC, and which TPCs that of a GPC, by streams that hold each other
// up (docs/methods/topology.md). Group tests: one launch clears many pairs at once.
#pragma once

#include "jobs/cores/port_trials.hpp"

#include <string>
#include <vector>

namespace sonde {

/// Groups of units by a port that they share. @param group_of_unit -1: no port was seen that this
/// unit shares
struct PortGroups {
  std::vector<int> group_of_unit;
  bool any_seen = false;
};

/// Units of which any two hold each other up: SMs of one TPC, if its port is narrower than theirs
/// together. Each pair that is left is confirmed alone.
PortGroups find_port_pairs(PortTrials& trials, std::uint64_t seed);

/// Units that hold each other up once enough of them stream at once: TPCs of one GPC, if its port
/// is narrower than theirs together. A group counts if from one number of members on all of them
/// are late, whichever they are: two groups in one would be late at other numbers.
PortGroups find_overloaded_ports(PortTrials& trials, std::uint64_t seed);

/// What ports say of groups that something else found.
struct PortCheck {
  std::size_t seen = 0;          // groups that overload a port of their own
  std::size_t contradicted = 0;  // of these, ports that units of other groups share
};
PortCheck check_ports(PortTrials& trials, const std::vector<int>& group_of_unit,
                      std::uint64_t seed);

/// Puts each unit without a group (-1) to the one whose overloaded port holds it up, and no other
/// one's does.
void place_by_port(PortTrials& trials, std::vector<int>& group_of_unit);

}  // namespace sonde
