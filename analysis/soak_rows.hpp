// Rows of the metric registry: a soak, reads and arithmetic in turns until the GPU is warm.
#pragma once

#include "analysis/metric_rows.hpp"

namespace sonde::registry {

inline constexpr Quantity soak_clock{"Hz", continuous, higher};

inline constexpr Row soak_rows[] = {
    {"soak.read_bytes_per_s", throughput, "reads of global memory, median over the rounds"},
    {"soak.clock_hz", soak_clock, "SM clock while all SMs compute, median over the rounds"},
    {"soak.read_last_over_first", gain,
     "reads in the last round / in the first, by the line through all"},
    {"soak.clock_last_over_first", gain, "the same of the SM clock"},
    {"soak.highest_temperature_c", Quantity{"degC", inventory, lower}, "GPU temperature"},
    {"soak.throttle_reasons", alarm, "bit mask of reasons for lowered clocks, in any round",
     "NVML clocks event reasons"},
    {"soak.time_s", Quantity{"s", fingerprint, neither},
     "end of each round: for how long the GPU had been at work"},
    {"soak.read_by_round_bytes_per_s", rate_curve, "reads in each round"},
    {"soak.clock_by_round_hz", Quantity{"Hz", fingerprint, neither}, "SM clock in each round"},
    {"soak.temperature_by_round_c", Quantity{"degC", fingerprint, neither},
     "GPU temperature at the end of each round"},
};

}  // namespace sonde::registry
