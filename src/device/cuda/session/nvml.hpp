// NVML, the driver's management library, loaded at run time: not every machine has its header and
// stub, and without the library sonde still measures, with less inventory.
#pragma once

#include "device/device.hpp"
#include "trace/gpu_survey.hpp"
#include "trace/inventory.hpp"
#include "trace/links.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sonde::cuda {

/// Compute processes as NVML numbers them. In a container NVML may use the numbers of the host, so
/// that a process does not find itself by its own number.
using Processes = std::vector<unsigned>;

/// The processes of `after` that are this process: the one with the number `self` or, if there is
/// none, those that came while this process made its context.
Processes find_own(const Processes& before, const Processes& after, unsigned self);

/// Number of processes that are not in `own`.
int count_others(const Processes& processes, const Processes& own);

/// One GPU through NVML. Every call is allowed to fail: fields then keep their defaults.
class Nvml {
 public:
  /// @return nothing if there is no NVML, or it does not know the device
  static std::unique_ptr<Nvml> open(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Fills in what CUDA does not know, or knows less well. Processes other than this one count as
  /// foreign.
  void add_to(DeviceInfo& info) const;
  /// Without the processes of others, as listing these takes longer.
  Health health() const;
  /// Compute processes on the GPU; empty if NVML does not report them.
  Processes processes() const;
  PcieLink pcie_link() const;
  Links links() const;
  GpuSettings settings() const;
  PeerLink link_to(const std::string& peer_uuid) const;

 private:
  struct Library;
  Nvml(std::unique_ptr<Library> library, void* device);
  std::unique_ptr<Library> library_;
  void* device_;
};

}  // namespace sonde::cuda
