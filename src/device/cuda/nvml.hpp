// The driver's management library, loaded at run time: its header and stub are not everywhere, and
// without the library sonde still measures, only with less inventory.
#pragma once

#include "trace/inventory.hpp"

#include <memory>
#include <string>

namespace sonde::cuda {

/// What NVML knows and CUDA does not.
struct NvmlInventory {
  std::string serial;
  std::string vbios;
  std::string driver_version;
  double max_sm_clock_hz = 0;
  double max_memory_clock_hz = 0;
  bool mig = false;
  int foreign_processes = 0;
};

/// One GPU through NVML. Every call is allowed to fail: fields then keep their defaults.
class Nvml {
 public:
  /// @return nothing if there is no NVML, or it does not know the device
  static std::unique_ptr<Nvml> open(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Processes other than this one count as foreign.
  NvmlInventory inventory() const;
  Health health() const;

 private:
  struct Library;
  Nvml(std::unique_ptr<Library> library, void* device);
  std::unique_ptr<Library> library_;
  void* device_;
};

}  // namespace sonde::cuda
