// Lists GPUs by CUDA, asks for their settings, and opens one; its session plays probes by the
// overloads of cuda::play.
#include "device/cuda/cuda_device.hpp"

#include "device/cuda/play/play.hpp"
#include "device/cuda/session/inventory.hpp"
#include "device/cuda/session/xids.hpp"
#include "device/device_error.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace sonde {
namespace {

/// Hides all other GPUs from this process, if it has not asked CUDA for any yet: making a context
/// takes 0.7 s longer for each further GPU (seen with two H200s).
void show_only(const std::string& uuid, const std::vector<NodeGpu>& peers) {
  std::string wanted = uuid;
  for (const NodeGpu& peer : peers) wanted += "," + peer.uuid;
  setenv("CUDA_VISIBLE_DEVICES", wanted.c_str(), 1);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, std::uint64_t seed, double memory_share,
             const std::vector<DeviceChoice>& peers)
      : session_(std::make_unique<cuda::Session>(ordinal, seed, memory_share, peers)) {}
  /// A lost GPU is not freed, as that could hang; the end of the process frees it.
  ~CudaDevice() override {
    if (session_->lost()) static_cast<void>(session_.release());
  }

  const DeviceInfo& info() const override { return session_->info(); }
  Health health() override { return session_->health(); }
  PeerLink link_to(const std::string& peer_uuid) override { return session_->link_to(peer_uuid); }
  Links links() override { return session_->links(); }
  std::string machine_code(const std::string& op) override { return cuda::machine_code(op); }
  XidLog xids() override { return cuda::read_xids(info().pci_bus_id); }
  std::vector<int> register_counts() override { return cuda::list_register_counts(); }
  void begin_job() override {
    if (!session_->lost()) session_->begin_job();
  }

 protected:
  Trace play(const ProbeSpec& spec) override {
    return session_->measure([&] {
      return std::visit([&](const auto& probe) { return cuda::play(*session_, probe); }, spec);
    });
  }

 private:
  std::unique_ptr<cuda::Session> session_;
};

GpuSurvey survey_gpu(const DeviceChoice& choice, DriverSurvey& survey) {
  const auto nvml = cuda::Nvml::open(choice.uuid);
  const DeviceInfo info = cuda::read_inventory(choice.ordinal, nvml.get());
  if (nvml) survey.driver_release = info.driver_version;
  GpuSurvey gpu{.ordinal = choice.ordinal,
                .uuid = info.uuid,
                .name = info.name,
                .pci_bus_id = info.pci_bus_id,
                .mps = info.mps};
  if (nvml) gpu.settings = nvml->settings();
  return gpu;
}

}  // namespace

std::vector<DeviceChoice> list_cuda_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice) return {};
  if (error == cudaErrorInsufficientDriver) {
    // The runtime returns this if there is no driver, too.
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) return {};
    throw_device_error(
        "the NVIDIA driver is older than this build of sonde needs (no kernel can be loaded). "
        "Update the driver, or build with its CUDA version");
  }
  if (error != cudaSuccess) {
    throw_device_error(
        "the NVIDIA driver cannot list its GPUs: {} (they cannot be measured). Look at nvidia-smi "
        "and dmesg",
        cudaGetErrorString(error));
  }
  std::vector<DeviceChoice> choices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    choices.push_back(cuda::read_choice(ordinal));
  }
  return choices;
}

std::unique_ptr<Device> open_cuda_device(const DeviceChoice& choice, std::uint64_t seed,
                                         double memory_share, const std::vector<NodeGpu>& peers) {
  show_only(choice.uuid, peers);
  std::vector<DeviceChoice> seen = list_cuda_devices();
  const auto own = std::ranges::find(seen, choice.uuid, &DeviceChoice::uuid);
  if (own == seen.end()) {
    throw_device_error("GPU {} is not there (the GPUs changed since they were listed). Start again",
                       choice.uuid);
  }
  const int ordinal = own->ordinal;
  seen.erase(own);
  return std::make_unique<CudaDevice>(ordinal, seed, memory_share, seen);
}

DriverSurvey survey_cuda() {
  DriverSurvey survey;
  try {
    SONDE_CUDA_CHECK(cudaRuntimeGetVersion(&survey.needed_version));
    SONDE_CUDA_CHECK(cudaDriverGetVersion(&survey.driver_version));
    if (survey.driver_version == 0) return survey;
    for (const DeviceChoice& choice : list_cuda_devices()) {
      survey.gpus.push_back(survey_gpu(choice, survey));
    }
  } catch (const Error& error) {
    survey.problem = error.what();
  }
  return survey;
}

}  // namespace sonde
