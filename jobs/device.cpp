// Job `device`, the first job: what the driver reports about the GPU, its health and the errors so
// far. The last job, host, reports later errors.
#include "jobs/host/links.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

/// Reports a number if the driver reports it.
void report_told(JobRun& run, const char* metric, auto value) {
  if (value > 0) return run.report(metric, value, 1);
  run.leave_open(metric, "the driver does not report it");
}

}  // namespace

void run_device(JobRun& run) {
  const DeviceInfo& gpu = run.info();
  run.report("device.name", gpu.name, 1);
  run.report("device.compute_capability",
             fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor), 1);
  run.report("device.vbios", gpu.vbios, 1);
  run.report("device.driver", gpu.driver_version, 1);
  report_told(run, "device.sm_count", gpu.sm_count);
  report_told(run, "device.memory_bytes", gpu.memory_bytes);
  report_told(run, "device.reported_l2_bytes", gpu.l2_bytes);
  report_told(run, "device.shared_bytes_per_sm", gpu.shared_bytes_per_sm);
  report_told(run, "device.shared_bytes_per_block", gpu.shared_bytes_per_block);
  report_told(run, "device.max_sm_clock_hz", gpu.sm_clock_hz);
  report_told(run, "device.max_memory_clock_hz", gpu.memory_clock_hz);
  report_told(run, "device.memory_bus_bits", gpu.memory_bus_bits);
  run.report("device.ecc_enabled", gpu.ecc ? 1 : 0, 1);

  const Health health = run.device().health();
  report_told(run, "device.temperature_c", health.temperature_c);
  report_told(run, "device.power_w", health.power_w);
  run.report("device.throttle_reasons", health.throttle_reasons, 1);
  run.report("device.ecc_corrected", health.ecc_corrected, 1);
  run.report("device.ecc_uncorrected", health.ecc_uncorrected, 1);
  run.report("device.remapped_rows", health.remapped_rows, 1);
  run.report("device.remap_pending", health.remap_pending ? 1 : 0, 1);
  run.report("device.remap_failure", health.remap_failure ? 1 : 0, 1);
  report_errors_before(run);
}

}  // namespace sonde
