// What a driver reports about itself and its GPUs before anything is measured, for `sonde doctor`.
// Plain data, the same for every backend. A field is empty if the driver does not report it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde {

/// A mode whose setting takes effect only after a reset of the GPU.
struct GpuMode {
  bool now = false;
  bool after_reset = false;
};

struct MemoryErrors {
  std::uint64_t corrected = 0;
  std::uint64_t uncorrected = 0;
};

struct RowRemaps {
  std::uint64_t corrected = 0;  // rows remapped because of corrected errors
  std::uint64_t uncorrected = 0;
  bool pending = false;
  bool failed = false;
};

enum class ComputeMode { shared, one_thread, nobody, one_process };  // as NVML numbers them

/// Settings and state that NVML reports.
struct GpuSettings {
  std::optional<bool> persistence{};
  std::optional<std::uint64_t> throttle_reasons{};  // NVML clocks event reasons, a bit mask
  std::optional<double> power_limit_w{};
  std::optional<double> default_power_limit_w{};
  std::optional<GpuMode> ecc{};
  std::optional<MemoryErrors> errors_since_load{};  // since the driver was loaded
  std::optional<MemoryErrors> errors_ever{};
  std::optional<bool> page_retirement_pending{};
  std::optional<RowRemaps> remaps{};
  std::optional<GpuMode> mig{};
  std::optional<ComputeMode> compute_mode{};
  std::optional<int> foreign_processes{};
};

struct GpuSurvey {
  int ordinal = 0;
  std::string uuid{};
  std::string name{};
  std::string pci_bus_id{};
  bool mps = false;                       // CUDA reaches the GPU through MPS
  std::optional<GpuSettings> settings{};  // nothing: no NVML, or NVML does not know the GPU
};

/// CUDA versions are numbers as in CUDA: 1000 x major + 10 x minor.
struct DriverSurvey {
  bool cuda_in_build = true;
  int needed_version = 0;        // CUDA version of this build
  int driver_version = 0;        // latest CUDA version that the driver knows; 0: no driver
  std::string driver_release{};  // "550.90.07"; "" if NVML is not there
  std::string problem{};         // why the driver could not list its GPUs
  std::vector<GpuSurvey> gpus{};
};

}  // namespace sonde
