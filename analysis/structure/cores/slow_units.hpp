// Which SM, TPC or GPC of a device is worse than its peers, from maps that have a value for each.
// Input of jobs/placement.cpp.
#pragma once

#include "analysis/metric_kind.hpp"
#include "analysis/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace sonde {

/// One value for each unit of a kind; NaN: not known.
struct UnitMap {
  std::string what;  // "L1 latency"
  std::string unit;  // of the values: "cycle"
  Better better = Better::lower;
  double floor = 0;  // values of equal units differ by this (a standard deviation) at least
  std::vector<double> values;
};

/// The mean of each group; NaN for a group with an SM whose value is not known.
UnitMap by_group(const UnitMap& of_sms, const SmGroups& groups);

struct SlowUnit {
  int number = -1;
  double value = 0;
  double usual = 0;        // median of all units of the map
  double fraction = 0;     // by which it is worse than that
  double score = 0;        // distance from the median in robust standard deviations
  double confidence = 0;   // that no healthy unit would lie so far out
  std::string what, unit;  // of the map
};

/// Units that stand apart from their peers for the worse, the worst first: by more than the scatter
/// of the peers and the floor explain, given how many units there are (less than one of
/// 1000 healthy devices shows one by chance, were its units normal), by 2 %, and so far that
/// nothing lies between them and the rest. They are few: one in thirty, or one. A map of fewer than
/// four units names none.
std::vector<SlowUnit> find_slow_units(const UnitMap& map);

/// "<value> where its peers have <usual>, <fraction> worse: <what>"
std::string describe_slow_unit(const SlowUnit& unit);

}  // namespace sonde
