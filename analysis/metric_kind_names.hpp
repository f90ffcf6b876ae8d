// Names of the kinds of metrics, for files and reports.
#pragma once

#include "analysis/metric_kind.hpp"
#include "base/enum_text.hpp"

namespace sonde {

inline constexpr EnumName<MetricKind> metric_kind_names[]{{MetricKind::structural, "structural"},
                                                          {MetricKind::capacity, "capacity"},
                                                          {MetricKind::continuous, "continuous"},
                                                          {MetricKind::fingerprint, "fingerprint"},
                                                          {MetricKind::inventory, "inventory"}};

}  // namespace sonde
