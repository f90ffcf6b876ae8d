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

/// An entry of a shared library; null if it has none of that name.
struct Symbol {
  void* address = nullptr;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

}  // namespace

struct Nvml::Library {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  int (*init)() = find("nvmlInit_v2");
  int (*shutdown)() = find("nvmlShutdown");
  int (*handle_by_uuid)(const char*, Device*) = find("nvmlDeviceGetHandleByUUID");
  int (*driver_version)(char*, unsigned) = find("nvmlSystemGetDriverVersion");
  int (*serial)(Device, char*, unsigned) = find("nvmlDeviceGetSerial");
  int (*vbios)(Device, char*, unsigned) = find("nvmlDeviceGetVbiosVersion");
  int (*clock)(Device, unsigned, unsigned*) = find("nvmlDeviceGetClockInfo");
  int (*max_clock)(Device, unsigned, unsigned*) = find("nvmlDeviceGetMaxClockInfo");
  int (*temperature)(Device, unsigned, unsigned*) = find("nvmlDeviceGetTemperature");
  int (*power)(Device, unsigned*) = find("nvmlDeviceGetPowerUsage");
  int (*throttle_reasons)(Device,
                          unsigned long long*) = find("nvmlDeviceGetCurrentClocksThrottleReasons");
  int (*mig_mode)(Device, unsigned*, unsigned*) = find("nvmlDeviceGetMigMode");
  int (*ecc_errors)(Device, unsigned, unsigned,
                    unsigned long long*) = find("nvmlDeviceGetTotalEccErrors");
  int (*remapped_rows)(Device, unsigned*, unsigned*, unsigned*,
                       unsigned*) = find("nvmlDeviceGetRemappedRows");
  int (*processes)(Device, unsigned*,
                   ProcessInfo*) = find("nvmlDeviceGetComputeRunningProcesses_v3");
  bool usable =
      init != nullptr && shutdown != nullptr && handle_by_uuid != nullptr && init() == success;

  Symbol find(const char* name) const {
    return {handle == nullptr ? nullptr : dlsym(handle, name)};
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
  if (!library->usable || library->handle_by_uuid(uuid.c_str(), &device) != success) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(library), device));
}

void Nvml::add_to(DeviceInfo& info) const {
  const Library& nvml = *library_;
  info.serial = Library::read_text(nvml.serial, device_);
  info.vbios = Library::read_text(nvml.vbios, device_);
  const std::string driver_version = Library::read_text(nvml.driver_version);
  if (!driver_version.empty()) info.driver_version = driver_version;
  const unsigned sm_mhz = Library::read(0u, nvml.max_clock, device_, clock_sm);
  if (sm_mhz > 0) info.sm_clock_hz = 1e6 * sm_mhz;
  const unsigned memory_mhz = Library::read(0u, nvml.max_clock, device_, clock_mem);
  if (memory_mhz > 0) info.memory_clock_hz = 1e6 * memory_mhz;
  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.mig_mode != nullptr && nvml.mig_mode(device_, &current, &pending) == success) {
    info.mig = info.mig || current != 0;
  }
  info.foreign_processes = nvml.count_foreign_processes(device_);
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
