// Rows of the registry of metrics: bypassing (job `bypass`).
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr std::string_view bypass_page = "docs/methods/bypass.md";

inline constexpr Row bypass_rows[] = {
    {"bypass.exponent", number, "congestion ~ (L/N)^exponent, over all programs"},
};

}  // namespace sonde::registry
