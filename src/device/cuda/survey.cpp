// The driver and its GPUs as CUDA shows them, their settings by NVML.
#include "device/cuda/survey.hpp"

#include "base/error.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/session/cuda_check.hpp"
#include "device/cuda/session/inventory.hpp"

namespace sonde {
namespace {

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
