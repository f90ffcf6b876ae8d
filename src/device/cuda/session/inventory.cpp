// Reads the inventory of a GPU from the CUDA runtime and NVML; jobs see it as DeviceInfo.
#include "device/cuda/session/inventory.hpp"

#include "base/units.hpp"
#include "device/cuda/session/cuda_check.hpp"

#include <fmt/format.h>

namespace sonde::cuda {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  SONDE_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, ordinal));
  return value;
}

/// For attributes that an older driver may not know.
int attribute_or_zero(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
  cudaGetLastError();
  return 0;
}

std::uint64_t bytes_attribute(cudaDeviceAttr which, int ordinal) {
  return static_cast<std::uint64_t>(attribute(which, ordinal));
}

std::string format_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// A cluster has at most 16 blocks on compute capability 9.0 and 10.x, if the kernel allows it, and
/// 8 elsewhere (CUDA programming guide, thread block clusters).
int max_cluster_blocks(int compute_major, int ordinal) {
  if (attribute_or_zero(cudaDevAttrClusterLaunch, ordinal) == 0) return 0;
  return compute_major == 9 || compute_major == 10 ? 16 : 8;
}

void add_cuda_attributes(int ordinal, DeviceInfo& info) {
  info.compute_major = attribute(cudaDevAttrComputeCapabilityMajor, ordinal);
  info.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  info.sm_count = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.warp_threads = attribute(cudaDevAttrWarpSize, ordinal);
  info.max_threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock, ordinal);
  info.max_threads_per_sm = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, ordinal);
  info.max_cluster_blocks = max_cluster_blocks(info.compute_major, ordinal);
  info.l2_bytes = bytes_attribute(cudaDevAttrL2CacheSize, ordinal);
  info.shared_bytes_per_block = bytes_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  info.shared_bytes_per_sm = bytes_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal);
  info.reserved_shared_bytes_per_block =
      bytes_attribute(cudaDevAttrReservedSharedMemoryPerBlock, ordinal);
  info.shared_carveouts_bytes = shared_carveouts(info.compute_major, info.compute_minor);
  // Since Volta (Jia et al. 2018, Dissecting Volta, section 3.4).
  info.sm_partition_instruction_caches = info.compute_major >= 7;
  info.sm_clock_hz = 1e3 * attribute_or_zero(cudaDevAttrClockRate, ordinal);
  info.memory_clock_hz = 1e3 * attribute_or_zero(cudaDevAttrMemoryClockRate, ordinal);
  info.memory_bus_bits = attribute_or_zero(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  info.memory_data_rate = 2;  // HBM and GDDR: the driver reports half the data rate
  info.ecc = attribute_or_zero(cudaDevAttrEccEnabled, ordinal) != 0;
  info.mps = attribute_or_zero(cudaDevAttrMpsEnabled, ordinal) != 0;
}

cudaDeviceProp read_properties(int ordinal) {
  cudaDeviceProp properties{};
  SONDE_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  return properties;
}

/// "GPU-..." as NVML and nvidia-smi print it, or "MIG-..." for a slice.
std::string uuid_of(const cudaDeviceProp& properties) {
  std::string text = std::string(properties.name).find("MIG") == std::string::npos ? "GPU" : "MIG";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return text;
}

}  // namespace

std::vector<std::uint64_t> shared_carveouts(int compute_major, int compute_minor) {
  switch (compute_major * 10 + compute_minor) {
    case 70:
    case 72: return {0, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 96_KiB};
    case 75: return {32_KiB, 64_KiB};
    case 80:
    case 87: return {0, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 100_KiB, 132_KiB, 164_KiB};
    case 86:
    case 89:
    case 120:
    case 121: return {0, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 100_KiB};
    case 90:
    case 100:
    case 103:
      return {0, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 100_KiB, 132_KiB, 164_KiB, 196_KiB, 228_KiB};
    default: return {};
  }
}

DeviceChoice read_choice(int ordinal) {
  const cudaDeviceProp properties = read_properties(ordinal);
  return {.uuid = uuid_of(properties),
          .ordinal = ordinal,
          .name = properties.name,
          .sm_count = properties.multiProcessorCount,
          .shared_carveouts_bytes = shared_carveouts(properties.major, properties.minor)};
}

DeviceInfo read_inventory(int ordinal, const Nvml* nvml) {
  DeviceInfo info;
  const cudaDeviceProp properties = read_properties(ordinal);
  info.uuid = uuid_of(properties);
  info.name = properties.name;
  info.memory_bytes = properties.totalGlobalMem;
  info.pci_bus_id = fmt::format("{:08x}:{:02x}:{:02x}.0", properties.pciDomainID,
                                properties.pciBusID, properties.pciDeviceID);
  int version = 0;
  SONDE_CUDA_CHECK(cudaRuntimeGetVersion(&version));
  info.runtime_version = format_version(version);
  SONDE_CUDA_CHECK(cudaDriverGetVersion(&version));
  info.driver_version = "CUDA " + format_version(version);
  add_cuda_attributes(ordinal, info);
  info.mig = info.uuid.starts_with("MIG");
  if (nvml != nullptr) nvml->add_to(info);
  return info;
}

}  // namespace sonde::cuda
