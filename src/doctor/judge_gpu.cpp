// Verdicts on the driver and on GPUs. What compute-sharing means is said in docs/running.md: run
// leaves such GPUs out.
#include "doctor/judge_gpu.hpp"

#include "analysis/fleet/conditions.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

// nvml.h, nvmlClocksEventReason*: somebody set application or locked clocks; clocks of several GPUs
// are kept alike.
constexpr std::uint64_t set_clocks_mask = 0x02 | 0x10;
// Clocks fall at the slowdown temperature. An idle GPU so near to it will reach it at work.
constexpr double temperature_margin_c = 10;

constexpr const char* not_said = "the driver does not say";

std::string print_cuda(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Checks of one GPU, each under its name.
class GpuChecks {
 public:
  GpuChecks(const GpuSurvey& gpu, Sharing sharing) : gpu_(gpu), sharing_(sharing) {}

  void add(CheckVerdict verdict, const char* part, std::string found, std::string advice = "") {
    checks_.push_back({verdict, fmt::format("gpu{}.{}", gpu_.ordinal, part), std::move(found),
                       std::move(advice)});
  }
  void skip(const char* part) { add(CheckVerdict::skipped, part, not_said); }
  /// Somebody else may be on the GPU.
  void add_shared(const char* part, std::string found, const std::string& advice) {
    if (sharing_ == Sharing::allowed)
      return add(CheckVerdict::warn, part, std::move(found), advice);
    add(CheckVerdict::fail, part, std::move(found),
        advice + ", or measure nevertheless with --allow-shared-gpu");
  }
  /// Of a command for this GPU.
  std::string command(const char* text) const {
    return fmt::format("nvidia-smi -i {} {}", gpu_.uuid, text);
  }
  Checks take() { return std::move(checks_); }

 private:
  const GpuSurvey& gpu_;
  Sharing sharing_;
  Checks checks_;
};

void judge_persistence(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.persistence) return checks.skip("persistence");
  if (*settings.persistence) return checks.add(CheckVerdict::ok, "persistence", "on");
  checks.add(CheckVerdict::warn, "persistence",
             "off: the driver starts anew for every process, settings are lost between them",
             checks.command("-pm 1"));
}

void judge_clocks(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.sm_clock_hz || !settings.highest_sm_clock_hz) return checks.skip("clocks");
  std::string found = fmt::format("SM {:.0f} MHz now, {:.0f} at most", *settings.sm_clock_hz / 1e6,
                                  *settings.highest_sm_clock_hz / 1e6);
  const auto& set = settings.application_clock_hz;
  const auto& usual = settings.default_application_clock_hz;
  if (set) found += fmt::format(", application clock {:.0f}", *set / 1e6);
  if (set && usual && *set < *usual) {
    return checks.add(CheckVerdict::warn, "clocks",
                      fmt::format("{} (default {:.0f})", found, *usual / 1e6),
                      checks.command("-rac"));
  }
  checks.add(CheckVerdict::ok, "clocks", found);
}

void judge_throttling(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.throttle_reasons) return checks.skip("throttling");
  const std::uint64_t reasons = *settings.throttle_reasons;
  const std::string text = throttle_text(reasons);
  constexpr std::uint64_t by_hardware = 0x08 | 0x40 | 0x80;  // slowdown, thermal, power brake
  if ((reasons & by_hardware) != 0) {
    checks.add(CheckVerdict::fail, "throttling",
               fmt::format("the hardware lowers the clocks: {}", text),
               "look at cooling and power supply; nvidia-smi -q -d PERFORMANCE");
  } else if (!text.empty()) {
    checks.add(CheckVerdict::warn, "throttling", fmt::format("clocks are lowered: {}", text),
               "look at cooling and the power cap; nvidia-smi -q -d PERFORMANCE");
  } else if ((reasons & set_clocks_mask) != 0) {
    checks.add(CheckVerdict::warn, "throttling", "clocks are held by a setting",
               checks.command("-rgc") + " and -rac");
  } else {
    checks.add(CheckVerdict::ok, "throttling", "none");
  }
}

void judge_power(GpuChecks& checks, const GpuSettings& settings) {
  const auto& limit = settings.power_limit_w;
  const auto& usual = settings.default_power_limit_w;
  if (!limit || !usual) return checks.skip("power");
  const std::string found = fmt::format("limit {:.0f} W, default {:.0f} W", *limit, *usual);
  if (*limit < *usual) {
    checks.add(CheckVerdict::warn, "power", found,
               checks.command(fmt::format("-pl {:.0f}", *usual).c_str()));
  } else {
    checks.add(CheckVerdict::ok, "power", found);
  }
}

void judge_temperature(GpuChecks& checks, const GpuSettings& settings) {
  const auto& now = settings.temperature_c;
  const auto& slowdown = settings.slowdown_temperature_c;
  if (!now) return checks.skip("temperature");
  if (!slowdown) {
    return checks.add(CheckVerdict::skipped, "temperature",
                      fmt::format("{:.0f} C; the driver does not say where it slows down", *now));
  }
  const std::string found = fmt::format("{:.0f} C, slows down at {:.0f} C", *now, *slowdown);
  if (*now >= *slowdown - temperature_margin_c) {
    checks.add(CheckVerdict::warn, "temperature", found, "let it cool; look at fans and airflow");
  } else {
    checks.add(CheckVerdict::ok, "temperature", found);
  }
}

void judge_ecc(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.ecc) return checks.skip("ecc");
  const auto print = [](bool on) { return on ? "on" : "off"; };
  const GpuMode ecc = *settings.ecc;
  if (ecc.now != ecc.after_reset) {
    checks.add(CheckVerdict::warn, "ecc",
               fmt::format("{}, {} after a reset", print(ecc.now), print(ecc.after_reset)),
               checks.command("--gpu-reset") + " to settle it");
  } else if (!ecc.now) {
    checks.add(CheckVerdict::warn, "ecc", "off: it is compared only with GPUs without ECC",
               checks.command("-e 1") + ", then a reset");
  } else {
    checks.add(CheckVerdict::ok, "ecc", "on");
  }
}

void judge_errors(GpuChecks& checks, const GpuSettings& settings) {
  const auto& recent = settings.errors_since_load;
  if (!recent) return checks.skip("memory_errors");
  std::string found = fmt::format("since the driver was loaded: {} uncorrected, {} corrected",
                                  recent->uncorrected, recent->corrected);
  if (const auto& ever = settings.errors_ever) {
    found += fmt::format("; ever: {}, {}", ever->uncorrected, ever->corrected);
  }
  const bool uncorrected =
      recent->uncorrected > 0 || (settings.errors_ever && settings.errors_ever->uncorrected > 0);
  if (uncorrected) {
    checks.add(CheckVerdict::warn, "memory_errors", found,
               "dcgmi diag -r 3; drain it if they come again");
  } else if (recent->corrected > 0) {
    checks.add(CheckVerdict::warn, "memory_errors", found, "watch whether they grow");
  } else {
    checks.add(CheckVerdict::ok, "memory_errors", found);
  }
}

void judge_repairs(GpuChecks& checks, const GpuSettings& settings) {
  const auto& remaps = settings.remaps;
  if (!remaps && !settings.page_retirement_pending) return checks.skip("memory_repairs");
  const std::string found =
      remaps ? fmt::format("{} rows remapped", remaps->corrected + remaps->uncorrected)
             : "no page waits for its retirement";
  if (remaps && remaps->failed) {
    checks.add(CheckVerdict::fail, "memory_repairs",
               found + ", one could not be: no spare rows are left", "have the GPU exchanged");
  } else if (remaps && remaps->pending) {
    checks.add(CheckVerdict::warn, "memory_repairs", found + ", another waits for a reset",
               checks.command("--gpu-reset"));
  } else if (settings.page_retirement_pending.value_or(false)) {
    checks.add(CheckVerdict::warn, "memory_repairs", "a page waits for a reset to be retired",
               checks.command("--gpu-reset"));
  } else {
    checks.add(CheckVerdict::ok, "memory_repairs", found);
  }
}

void judge_mig(GpuChecks& checks, const GpuSurvey& gpu) {
  const GpuMode mig = gpu.settings ? gpu.settings->mig.value_or(GpuMode{}) : GpuMode{};
  if (gpu.uuid.starts_with("MIG") || mig.now) {
    checks.add_shared("mig", "on: this is a slice of a GPU", "nvidia-smi -mig 0");
  } else if (mig.after_reset) {
    checks.add(CheckVerdict::warn, "mig", "off, on after a reset", checks.command("-mig 0"));
  } else {
    checks.add(CheckVerdict::ok, "mig", "off");
  }
}

void judge_compute_mode(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.compute_mode) return checks.skip("compute_mode");
  switch (*settings.compute_mode) {
    case ComputeMode::nobody:
      return checks.add(CheckVerdict::fail, "compute_mode", "prohibited: no process may compute",
                        checks.command("-c DEFAULT"));
    case ComputeMode::shared: return checks.add(CheckVerdict::ok, "compute_mode", "default");
    case ComputeMode::one_thread:
    case ComputeMode::one_process: break;
  }
  checks.add(CheckVerdict::ok, "compute_mode", "exclusive: one process at a time");
}

void judge_processes(GpuChecks& checks, const GpuSettings& settings) {
  if (!settings.foreign_processes) return checks.skip("processes");
  const int count = *settings.foreign_processes;
  if (count == 0) return checks.add(CheckVerdict::ok, "processes", "no others on it");
  checks.add_shared("processes", fmt::format("{} others on it", count),
                    "end them (nvidia-smi names them)");
}

void judge_cpus_near(GpuChecks& checks, const NearCpus& cpus) {
  if (!cpus.problem.empty()) {
    checks.add(CheckVerdict::skipped, "cpus", cpus.problem);
  } else if (cpus.usable.empty()) {
    checks.add(
        CheckVerdict::warn, "cpus",
        fmt::format("none of those near it ({}) may be used here", cpus.near),
        "start with --cpu-bind=none (srun), --bind-to none (mpirun), or ask for CPUs near it");
  } else {
    checks.add(CheckVerdict::ok, "cpus",
               fmt::format("near it: {}; of these usable: {}", cpus.near, cpus.usable));
  }
}

Check judge_version(const DriverSurvey& survey) {
  Check check{.name = "driver"};
  if (!survey.cuda_in_build) {
    check.verdict = CheckVerdict::fail;
    check.found = "this sonde was built without CUDA";
    check.advice = "build it where nvcc is found, or use --backend sim:h200";
    return check;
  }
  if (survey.driver_version == 0) {
    check.verdict = CheckVerdict::fail;
    check.found = "no NVIDIA driver (libcuda.so.1 is not there, or older than CUDA)";
    check.advice = "load it, start the container with its GPUs, or use --backend sim:h200";
    return check;
  }
  const int driver = survey.driver_version;
  const int needed = survey.needed_version;
  check.found = fmt::format("{}for CUDA {}, this build has CUDA {}",
                            survey.driver_release.empty() ? "" : survey.driver_release + " ",
                            print_cuda(driver), print_cuda(needed));
  if (driver / 1000 < needed / 1000) {
    check.verdict = CheckVerdict::fail;
    check.advice = "update the driver, or build with its CUDA version";
  } else if (driver < needed) {
    // CUDA compatibility guide, minor version compatibility.
    check.verdict = CheckVerdict::warn;
    check.found += ": machine code runs, PTX does not";
    check.advice = "update the driver if kernels cannot be loaded";
  }
  return check;
}

}  // namespace

Checks judge_driver(const DriverSurvey& survey, const std::optional<std::string>& visible_devices) {
  Checks checks{judge_version(survey)};
  Check gpus{.name = "gpus"};
  const std::string visible = visible_devices
                                  ? fmt::format("CUDA_VISIBLE_DEVICES={}", *visible_devices)
                                  : "CUDA_VISIBLE_DEVICES is not set";
  if (!survey.cuda_in_build || survey.driver_version == 0) {
    gpus.verdict = CheckVerdict::skipped;
    gpus.found = fmt::format("no driver to ask; {}", visible);
  } else if (!survey.problem.empty()) {
    gpus.verdict = CheckVerdict::fail;
    gpus.found = fmt::format("{}; {}", survey.problem, visible);
    gpus.advice = "look at nvidia-smi and dmesg";
  } else if (survey.gpus.empty()) {
    gpus.verdict = CheckVerdict::fail;
    gpus.found = fmt::format("the driver shows none; {}", visible);
    gpus.advice = visible_devices ? "set CUDA_VISIBLE_DEVICES to GPUs of this machine, or unset it"
                                  : "look at nvidia-smi -L; ask Slurm for GPUs (--gpus-per-node)";
  } else {
    gpus.found = fmt::format("{}; {}", survey.gpus.size(), visible);
  }
  checks.push_back(gpus);
  return checks;
}

Checks judge_gpu(const GpuSurvey& gpu, const NearCpus& cpus, Sharing sharing) {
  GpuChecks checks(gpu, sharing);
  Checks all{{CheckVerdict::ok, fmt::format("gpu{}", gpu.ordinal),
              fmt::format("{}  {}  PCI {}", gpu.uuid, gpu.name, gpu.pci_bus_id)}};
  judge_mig(checks, gpu);
  if (gpu.mps) checks.add_shared("mps", "CUDA reaches it through MPS", "stop the MPS daemon");
  if (const auto& settings = gpu.settings) {
    judge_compute_mode(checks, *settings);
    judge_processes(checks, *settings);
    judge_persistence(checks, *settings);
    judge_clocks(checks, *settings);
    judge_throttling(checks, *settings);
    judge_power(checks, *settings);
    judge_temperature(checks, *settings);
    judge_ecc(checks, *settings);
    judge_errors(checks, *settings);
    judge_repairs(checks, *settings);
  } else {
    checks.add(CheckVerdict::skipped, "settings",
               "NVML is not there, or does not know this GPU: clocks, power, ECC, processes");
  }
  judge_cpus_near(checks, cpus);
  append(all, checks.take());
  return all;
}

Check judge_mps(const MpsFacts& mps, Sharing sharing) {
  if (!mps.daemon_runs && !mps.pipe_is_there) return {CheckVerdict::ok, "mps", "no control daemon"};
  if (!mps.daemon_runs) {
    return {CheckVerdict::warn, "mps",
            fmt::format("no control daemon is seen, but its pipe is in {}", mps.pipe_folder),
            "look for one outside of this container; remove the folder if there is none"};
  }
  const std::string found = fmt::format("its control daemon runs (pipes in {})", mps.pipe_folder);
  const std::string advice = "echo quit | nvidia-cuda-mps-control";
  if (sharing == Sharing::allowed) return {CheckVerdict::warn, "mps", found, advice};
  return {CheckVerdict::fail, "mps", found,
          advice + ", or measure nevertheless with --allow-shared-gpu"};
}

}  // namespace sonde
