// Job `device`, the first job: what the driver reports about the GPU, its health and the errors so
// far. The last job, host, reports later errors.
#include "jobs/host/links.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// Reports a number if the driver reports it.
void report_told(JobRun& run, const char* metric, double value) {
  run.report(value > 0 ? found(metric, value, 1, 1)
                       : not_resolvable(metric, "the driver does not report it"));
}

void report_count(JobRun& run, const char* metric, double value) {
  run.report(found(metric, value, 1, 1));
}

}  // namespace

void run_device(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  run.report(found("device.name", gpu.name, 1, 1));
  run.report(found("device.compute_capability",
                   fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor), 1, 1));
  run.report(found("device.vbios", gpu.vbios, 1, 1));
  run.report(found("device.driver", gpu.driver_version, 1, 1));
  report_told(run, "device.sm_count", gpu.sm_count);
  report_told(run, "device.memory_bytes", static_cast<double>(gpu.memory_bytes));
  report_told(run, "device.reported_l2_bytes", static_cast<double>(gpu.l2_bytes));
  report_told(run, "device.shared_bytes_per_sm", static_cast<double>(gpu.shared_bytes_per_sm));
  report_told(run, "device.shared_bytes_per_block",
              static_cast<double>(gpu.shared_bytes_per_block));
  report_told(run, "device.max_sm_clock_hz", gpu.sm_clock_hz);
  report_told(run, "device.max_memory_clock_hz", gpu.memory_clock_hz);
  report_told(run, "device.memory_bus_bits", gpu.memory_bus_bits);
  report_count(run, "device.ecc_enabled", gpu.ecc ? 1 : 0);

  const Health health = run.device().health();
  report_told(run, "device.temperature_c", health.temperature_c);
  report_told(run, "device.power_w", health.power_w);
  report_count(run, "device.throttle_reasons", static_cast<double>(health.throttle_reasons));
  report_count(run, "device.ecc_corrected", static_cast<double>(health.ecc_corrected));
  report_count(run, "device.ecc_uncorrected", static_cast<double>(health.ecc_uncorrected));
  report_count(run, "device.remapped_rows", static_cast<double>(health.remapped_rows));
  report_count(run, "device.remap_pending", health.remap_pending ? 1 : 0);
  report_count(run, "device.remap_failure", health.remap_failure ? 1 : 0);
  report_errors_before(run);
}

}  // namespace sonde
