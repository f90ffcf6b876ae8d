// What must hold between the numbers of a unit.
#include "device/sim/model/units.hpp"

#include <algorithm>

namespace sonde::sim {

SharedCacheModel::SharedCacheModel(Fields& fields) : Section(fields) {
  if (size_bytes < line_bytes) fields.fail("size_bytes", "must hold a line");
}

SharedModel::SharedModel(Fields& fields) : Section(fields) {
  if (bank_bytes != 4 && bank_bytes != 8) fields.fail("bank_bytes", "must be 4 or 8");
  if (latency.empty()) fields.fail("latency_cycles", "must hold a point");
  const auto descends = [](const PassPoint& a, const PassPoint& b) { return b.passes <= a.passes; };
  if (std::ranges::adjacent_find(latency, descends) != latency.end()) {
    fields.fail("latency_cycles", "must ascend in passes");
  }
}

double SharedModel::latency_cycles(double passes) const {
  const auto above = std::ranges::lower_bound(latency, passes, {}, &PassPoint::passes);
  if (above == latency.begin()) return latency.front().cycles;
  if (above == latency.end()) return latency.back().cycles;
  const PassPoint& below = *(above - 1);
  const double share = (passes - below.passes) / (above->passes - below.passes);
  return below.cycles + share * (above->cycles - below.cycles);
}

OccupancyModel::OccupancyModel(Fields& fields) : Section(fields) {
  if (registers_per_sm % parts != 0) fields.fail("parts", "must divide registers_per_sm");
}

}  // namespace sonde::sim
