// The table behind analysis/metrics.hpp: one row per metric, grouped by job.
#include "analysis/metrics.hpp"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

using enum MetricKind;
using enum Better;

constexpr std::array metrics{
    Metric{"device.name", "", inventory, neither, "device", "product name", "driver"},
    Metric{"device.compute_capability", "", structural, neither, "device",
           "compute capability", "driver"},
    Metric{"device.vbios", "", inventory, neither, "device", "VBIOS version", "driver"},
    Metric{"device.driver", "", inventory, neither, "device", "driver version", "driver"},
    Metric{"device.sm_count", "1", structural, neither, "device", "multiprocessors", "driver"},
    Metric{"device.memory_bytes", "byte", structural, neither, "device", "global memory", "driver"},
    Metric{"device.reported_l2_bytes", "byte", structural, neither, "device",
           "L2 size as the driver prints it", "driver"},
    Metric{"device.max_sm_clock_hz", "Hz", structural, neither, "device",
           "highest SM clock", "driver"},
    Metric{"device.max_memory_clock_hz", "Hz", structural, neither, "device",
           "highest memory clock", "driver"},
    Metric{"device.memory_bus_bits", "1", structural, neither, "device",
           "width of the memory bus", "driver"},
    Metric{"device.ecc_enabled", "1", structural, neither, "device", "1: ECC is on", "driver"},
    Metric{"device.temperature_c", "degC", inventory, lower, "device",
           "GPU temperature at the start", "driver"},
    Metric{"device.power_w", "W", inventory, neither, "device", "board power at the start",
           "driver"},
    Metric{"device.throttle_reasons", "1", inventory, lower, "device",
           "bit mask of reasons for lowered clocks", "NVML clocks event reasons"},
    Metric{"device.ecc_corrected", "1", inventory, lower, "device", "corrected memory errors",
           "driver"},
    Metric{"device.ecc_uncorrected", "1", inventory, lower, "device", "uncorrected memory errors",
           "driver"},
    Metric{"device.remapped_rows", "1", inventory, lower, "device", "memory rows remapped",
           "driver"},
    Metric{"device.remap_pending", "1", inventory, lower, "device",
           "1: a row remap waits for a reset", "driver"},
    Metric{"device.remap_failure", "1", inventory, lower, "device", "1: a row remap failed",
           "driver"},
    Metric{"clock.overhead_cycles", "cycle", continuous, neither, "clock",
           "two clock reads back to back", "Mei and Chu 2016, section 4.2"},
};

}  // namespace

std::span<const Metric> all_metrics() { return metrics; }

const Metric* find_metric(std::string_view name) {
  const auto* found = std::find_if(metrics.begin(), metrics.end(),
                                   [name](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : found;
}

}  // namespace sonde
