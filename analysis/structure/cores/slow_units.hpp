// Finds units (SMs, TPCs, GPCs, slices) that are worse than their peers, from maps of their values.
#pragma once

#include "analysis/metric_kind.hpp"

#include <string>
#include <vector>

namespace sonde {

/// One value for each unit of a kind; NaN: unknown.
struct UnitMap {
  std::string what;  // "L1 latency"
  std::string unit;  // of the values: "cycle"
  Better better = Better::lower;
  double floor = 0;  // least standard deviation of the values of equal units
  std::vector<double> values;
};

struct SlowUnit {
  int number = -1;
  double value = 0;
  double usual = 0;        // median of all units of the map
  double fraction = 0;     // by which it is worse than usual
  double score = 0;        // distance from the median in standard deviations
  double confidence = 0;   // that no healthy unit would be so far from its peers
  std::string what, unit;  // of the map
};

/// Units that are worse than their peers, the worst first: beyond the scatter of the peers and the
/// floor, given the number of units (less than one in 1000 healthy devices would show one by
/// chance, if its units were normal); by at least 2 %; and with no other unit near them. At most
/// one unit in thirty, or one. A map of fewer than four units has none.
std::vector<SlowUnit> find_slow_units(const UnitMap& map);

/// "L1 latency 40.0 cycles where its peers have 33.0: 21.2 % more, 9 times their scatter"
std::string describe_slow_unit(const SlowUnit& unit);

}  // namespace sonde
