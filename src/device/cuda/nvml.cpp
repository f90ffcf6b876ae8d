// Asks NVML what CUDA does not know, for inventory and health. Prototypes, buffer sizes and
// enumerators are those of nvml.h (NVML API reference).
#include "device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <limits>
#include <vector>

namespace sonde::cuda {
namespace {

using Device = void*;
constexpr int success = 0;            // NVML_SUCCESS
constexpr int insufficient_size = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr unsigned clock_sm = 1;      // NVML_CLOCK_SM
constexpr unsigned clock_mem = 2;     // NVML_CLOCK_MEM
constexpr unsigned temperature_gpu = 0;
constexpr unsigned errors_corrected = 0;
constexpr unsigned errors_uncorrected = 1;
constexpr unsigned counter_volatile = 0;  // since the driver was loaded
constexpr unsigned text_bytes = 96;       // covers every NVML_*_BUFFER_SIZE used here

/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_uuid)(const char*, Device*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*serial)(Device, char*, unsigned) = nullptr;
  int (*vbios)(Device, char*, unsigned) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*max_clock)(Device, unsigned, unsigned*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*ecc_errors)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*remapped_rows)(Device, unsigned*, unsigned*, unsigned*, unsigned*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;

  bool load() {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    find(handle, "nvmlInit_v2", init);
    find(handle, "nvmlShutdown", shutdown);
    find(handle, "nvmlDeviceGetHandleByUUID", handle_by_uuid);
    find(handle, "nvmlSystemGetDriverVersion", driver_version);
    find(handle, "nvmlDeviceGetSerial", serial);
    find(handle, "nvmlDeviceGetVbiosVersion", vbios);
    find(handle, "nvmlDeviceGetClockInfo", clock);
    find(handle, "nvmlDeviceGetMaxClockInfo", max_clock);
    find(handle, "nvmlDeviceGetTemperature", temperature);
    find(handle, "nvmlDeviceGetPowerUsage", power);
    find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons);
    find(handle, "nvmlDeviceGetMigMode", mig_mode);
    find(handle, "nvmlDeviceGetTotalEccErrors", ecc_errors);
    find(handle, "nvmlDeviceGetRemappedRows", remapped_rows);
    find(handle, "nvmlDeviceGetComputeRunningProcesses_v3", processes);
    return init != nullptr && shutdown != nullptr && handle_by_uuid != nullptr && init() == success;
  }
  /// The handle stays open: unloading a library that the CUDA driver may share gains nothing.
  ~Library() {
    if (shutdown != nullptr) shutdown();
  }

  template <class Value, class Function, class... Arguments>
  static Value read(Value fallback, Function function, Arguments... arguments) {
    Value value = fallback;
    return function != nullptr && function(arguments..., &value) == success ? value : fallback;
  }
  template <class Function, class... Arguments>
  static std::string read_text(Function function, Arguments... arguments) {
    char text[text_bytes] = "";
    return function != nullptr && function(arguments..., text, text_bytes) == success ? text : "";
  }
  double clock_hz(Device device, unsigned domain) const {
    return 1e6 * read(0u, clock, device, domain);
  }
  int count_foreign_processes(Device device) const {
    if (processes == nullptr) return 0;
    std::vector<ProcessInfo> infos(64);
    unsigned count = static_cast<unsigned>(infos.size());
    if (processes(device, &count, infos.data()) == insufficient_size) {
      return static_cast<int>(count);
    }
    const auto self = static_cast<unsigned>(getpid());
    int foreign = 0;
    for (unsigned i = 0; i < count && i < infos.size(); ++i) foreign += infos[i].pid != self;
    return foreign;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library, void* device)
    : library_(std::move(library)), device_(device) {}

Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& uuid) {
  auto library = std::make_unique<Library>();
  Device device = nullptr;
  if (!library->load() || library->handle_by_uuid(uuid.c_str(), &device) != success) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(library), device));
}

NvmlInventory Nvml::inventory() const {
  const Library& nvml = *library_;
  NvmlInventory result;
  result.driver_version = Library::read_text(nvml.driver_version);
  result.serial = Library::read_text(nvml.serial, device_);
  result.vbios = Library::read_text(nvml.vbios, device_);
  result.max_sm_clock_hz = 1e6 * Library::read(0u, nvml.max_clock, device_, clock_sm);
  result.max_memory_clock_hz = 1e6 * Library::read(0u, nvml.max_clock, device_, clock_mem);
  unsigned pending = 0;
  unsigned current = 0;
  if (nvml.mig_mode != nullptr && nvml.mig_mode(device_, &current, &pending) == success) {
    result.mig = current != 0;
  }
  result.foreign_processes = nvml.count_foreign_processes(device_);
  return result;
}

Health Nvml::health() const {
  const Library& nvml = *library_;
  constexpr unsigned unknown = std::numeric_limits<unsigned>::max();
  constexpr double not_said = std::numeric_limits<double>::quiet_NaN();
  Health health;
  const unsigned temperature = Library::read(unknown, nvml.temperature, device_, temperature_gpu);
  health.temperature_c = temperature == unknown ? not_said : temperature;
  const unsigned power_mw = Library::read(unknown, nvml.power, device_);
  health.power_w = power_mw == unknown ? not_said : power_mw * 1e-3;
  health.sm_clock_hz = nvml.clock_hz(device_, clock_sm);
  health.memory_clock_hz = nvml.clock_hz(device_, clock_mem);
  health.throttle_reasons = Library::read(0ull, nvml.throttle_reasons, device_);
  health.ecc_corrected =
      Library::read(0ull, nvml.ecc_errors, device_, errors_corrected, counter_volatile);
  health.ecc_uncorrected =
      Library::read(0ull, nvml.ecc_errors, device_, errors_uncorrected, counter_volatile);
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failure = 0;
  if (nvml.remapped_rows != nullptr &&
      nvml.remapped_rows(device_, &corrected, &uncorrected, &pending, &failure) == success) {
    health.remapped_rows = std::uint64_t{corrected} + uncorrected;
    health.remap_pending = pending != 0;
    health.remap_failure = failure != 0;
  }
  return health;
}

}  // namespace sonde::cuda
