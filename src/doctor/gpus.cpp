#include "doctor/gpus.hpp"

#include "analysis/fleet/conditions.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

using std::string;
using enum CheckVerdict;

string judge_driver(const DriverSurvey& driver) {
  if (!driver.cuda_in_build) {
    return "this sonde was built without CUDA -> build it where nvcc is found, or use --backend "
           "sim:h200";
  }
  if (driver.driver_version == 0) {
    return "no NVIDIA driver (libcuda.so.1 is not there, or older than CUDA) -> load it, start the "
           "container with its GPUs, or use --backend sim:h200";
  }
  if (driver.driver_version / 1000 >= driver.needed_version / 1000) return "";
  return fmt::format(
      "for CUDA {}, this build has CUDA {} -> update the driver, or build with its "
      "CUDA version",
      driver.driver_version / 1000, driver.needed_version / 1000);
}

/// Memory errors, and repairs that failed or wait. Newer GPUs remap rows, older ones retire pages.
Checks check_memory(const GpuSettings& nvml, const string& smi) {
  const MemoryErrors recent = nvml.errors_since_load.value_or(MemoryErrors{});
  const MemoryErrors ever = nvml.errors_ever.value_or(recent);
  const RowRemaps remaps = nvml.remaps.value_or(RowRemaps{});
  return {
      check("memory_errors", recent.uncorrected + ever.uncorrected + recent.corrected > 0, warn,
            fmt::format("since the driver was loaded: {} uncorrected, {} corrected; ever: {}, "
                        "{} -> dcgmi diag -r 3 if uncorrected; watch whether they grow",
                        recent.uncorrected, recent.corrected, ever.uncorrected, ever.corrected)),
      check("memory_repairs", remaps.failed, fail,
            "a row could not be remapped: no spare ones are left -> have the GPU exchanged"),
      check("memory_pending", remaps.pending || nvml.page_retirement_pending.value_or(false), warn,
            "a repair waits for a reset" + smi + "--gpu-reset")};
}

/// Settings that make results differ from those of other GPUs.
Checks check_settings(const GpuSettings& nvml, const string& smi) {
  // nvml.h, nvmlClocksEventReason*: slowdown, thermal slowdown, power brake.
  constexpr std::uint64_t hardware_reasons = 0x08 | 0x40 | 0x80;
  const std::uint64_t reasons = nvml.throttle_reasons.value_or(0);
  const string causes = throttle_text(reasons);
  const GpuMode ecc = nvml.ecc.value_or(GpuMode{.now = true, .after_reset = true});
  const ComputeMode mode = nvml.compute_mode.value_or(ComputeMode::shared);
  const double usual_w = nvml.default_power_limit_w.value_or(0);
  const double limit_w = nvml.power_limit_w.value_or(usual_w);
  return {check("persistence", !nvml.persistence.value_or(true), warn,
                "off (the driver starts anew for every process)" + smi + "-pm 1"),
          check("compute_mode", mode == ComputeMode::nobody, fail,
                "prohibited: no process may compute" + smi + "-c DEFAULT"),
          check("throttling", !causes.empty(), (reasons & hardware_reasons) != 0 ? fail : warn,
                fmt::format("clocks are lowered: {} -> look at cooling and power; nvidia-smi -q -d "
                            "PERFORMANCE",
                            causes)),
          check("power", limit_w < usual_w, warn,
                fmt::format("limit {:.0f} W, default {:.0f} W{}-pl {:.0f}", limit_w, usual_w, smi,
                            usual_w)),
          check("ecc", !ecc.now || !ecc.after_reset, warn,
                "off, or off after a reset (compared only with GPUs without ECC)" + smi + "-e 1")};
}

}  // namespace

Checks check_driver(const DriverSurvey& driver) {
  const string problem = judge_driver(driver);
  const bool sick = !driver.problem.empty();
  return {
      problem.empty() ? Check{ok, "driver", driver.driver_release} : Check{fail, "driver", problem},
      check("gpus", sick || driver.gpus.empty(), fail,
            (sick ? driver.problem : "the driver shows none") +
                " -> look at nvidia-smi -L, CUDA_VISIBLE_DEVICES and dmesg; ask Slurm for GPUs "
                "(--gpus-per-node)")};
}

string describe_sharing(bool mig, bool mps, int foreign_processes) {
  if (mig) return "the GPU is in MIG mode (its caches and SMs are cut)";
  if (mps) return "MPS is active (other processes may run at the same time)";
  if (foreign_processes == 0) return "";
  return fmt::format("{} other process(es) use the GPU (they disturb every latency)",
                     foreign_processes);
}

Checks check_gpu(const GpuSurvey& gpu, bool may_share) {
  const GpuSettings nvml = gpu.settings.value_or(GpuSettings{});
  const string smi = fmt::format(" -> nvidia-smi -i {} ", gpu.uuid);
  const bool mig = gpu.uuid.starts_with("MIG") || nvml.mig.value_or(GpuMode{}).now;
  const string sharing = describe_sharing(mig, gpu.mps, nvml.foreign_processes.value_or(0));
  Checks checks{
      {gpu.settings ? ok : skipped, "device",
       fmt::format("{}  {}  {}{}", gpu.uuid, gpu.name, gpu.pci_bus_id,
                   gpu.settings ? "" : " (NVML does not know it: nothing is known of its state)")},
      check("shared", !sharing.empty(), may_share ? warn : fail,
            sharing + " -> free it, or measure nevertheless with --allow-shared-gpu")};
  for (const Checks& part : {check_settings(nvml, smi), check_memory(nvml, smi)}) {
    checks.insert(checks.end(), part.begin(), part.end());
  }
  for (Check& check : checks) check.name = fmt::format("gpu{}.{}", gpu.ordinal, check.name);
  return checks;
}

}  // namespace sonde
