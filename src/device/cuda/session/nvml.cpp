// Asks NVML what CUDA does not know, for inventory, health and settings. Prototypes, buffer sizes
// and enumerators are copied from nvml.h (NVML API reference).
#include "device/cuda/session/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace sonde::cuda {
namespace {

using Device = void*;
constexpr int success = 0;            // NVML_SUCCESS
constexpr int not_found = 6;          // NVML_ERROR_NOT_FOUND
constexpr int insufficient_size = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr unsigned clock_sm = 1;      // NVML_CLOCK_SM
constexpr unsigned clock_mem = 2;     // NVML_CLOCK_MEM
constexpr unsigned temperature_gpu = 0;
constexpr unsigned errors_corrected = 0;
constexpr unsigned errors_uncorrected = 1;
constexpr unsigned counter_volatile = 0;   // since the driver was loaded
constexpr unsigned counter_aggregate = 1;  // ever
constexpr unsigned p2p_read = 0;           // NVML_P2P_CAPS_INDEX_READ
constexpr unsigned p2p_nvlink = 2;         // NVML_P2P_CAPS_INDEX_NVLINK
constexpr unsigned p2p_ok = 0;             // NVML_P2P_STATUS_OK
constexpr unsigned most_nvlinks = 18;      // NVML_NVLINK_MAX_LINKS
constexpr unsigned nvlink_replay = 0;      // NVML_NVLINK_ERROR_DL_REPLAY
constexpr unsigned nvlink_recovery = 1;    // NVML_NVLINK_ERROR_DL_RECOVERY
constexpr unsigned nvlink_crc_flit = 2;    // NVML_NVLINK_ERROR_DL_CRC_FLIT
constexpr unsigned text_bytes = 96;        // covers every NVML_*_BUFFER_SIZE used here

/// A function of a shared library; null if the library lacks it.
struct Symbol {
  void* address = nullptr;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};

}  // namespace

struct Nvml::Library {
  /// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3.
  struct ProcessInfo {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
  };

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
  int (*persistence)(Device, unsigned*) = find("nvmlDeviceGetPersistenceMode");
  int (*power_limit)(Device, unsigned*) = find("nvmlDeviceGetEnforcedPowerLimit");
  int (*default_power_limit)(Device, unsigned*) = find("nvmlDeviceGetPowerManagementDefaultLimit");
  int (*ecc_mode)(Device, unsigned*, unsigned*) = find("nvmlDeviceGetEccMode");
  int (*retirement_pending)(Device, unsigned*) = find("nvmlDeviceGetRetiredPagesPendingStatus");
  int (*compute_mode)(Device, unsigned*) = find("nvmlDeviceGetComputeMode");
  int (*link_generation)(Device, unsigned*) = find("nvmlDeviceGetCurrPcieLinkGeneration");
  int (*link_width)(Device, unsigned*) = find("nvmlDeviceGetCurrPcieLinkWidth");
  int (*most_link_generation)(Device, unsigned*) = find("nvmlDeviceGetMaxPcieLinkGeneration");
  int (*most_link_width)(Device, unsigned*) = find("nvmlDeviceGetMaxPcieLinkWidth");
  int (*link_replays)(Device, unsigned*) = find("nvmlDeviceGetPcieReplayCounter");
  int (*nvlink_state)(Device, unsigned, unsigned*) = find("nvmlDeviceGetNvLinkState");
  int (*nvlink_errors)(Device, unsigned, unsigned,
                       unsigned long long*) = find("nvmlDeviceGetNvLinkErrorCounter");
  int (*processes)(Device, unsigned*,
                   ProcessInfo*) = find("nvmlDeviceGetComputeRunningProcesses_v3");
  int (*p2p_status)(Device, Device, unsigned, unsigned*) = find("nvmlDeviceGetP2PStatus");
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
  static std::optional<Value> ask(Function function, Arguments... arguments) {
    Value value{};
    if (function == nullptr || function(arguments..., &value) != success) return std::nullopt;
    return value;
  }
  template <class Value, class Function, class... Arguments>
  static Value read(Value fallback, Function function, Arguments... arguments) {
    return ask<Value>(function, arguments...).value_or(fallback);
  }
  /// A setting as it is now, and as it will be after a reset.
  template <class Function>
  static std::optional<GpuMode> ask_mode(Function function, Device device) {
    unsigned now = 0;
    unsigned after_reset = 0;
    if (function == nullptr || function(device, &now, &after_reset) != success) return {};
    return GpuMode{.now = now != 0, .after_reset = after_reset != 0};
  }
  template <class Function, class... Arguments>
  static std::string read_text(Function function, Arguments... arguments) {
    char text[text_bytes] = "";
    return function != nullptr && function(arguments..., text, text_bytes) == success ? text : "";
  }
  double clock_hz(Device device, unsigned domain) const {
    return 1e6 * read(0u, clock, device, domain);
  }
  std::optional<RowRemaps> ask_remaps(Device device) const {
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failed = 0;
    if (remapped_rows == nullptr ||
        remapped_rows(device, &corrected, &uncorrected, &pending, &failed) != success) {
      return {};
    }
    return RowRemaps{.corrected = corrected,
                     .uncorrected = uncorrected,
                     .pending = pending != 0,
                     .failed = failed != 0};
  }
  std::optional<MemoryErrors> ask_errors(Device device, unsigned counter) const {
    using Count = unsigned long long;
    const auto corrected = ask<Count>(ecc_errors, device, errors_corrected, counter);
    const auto uncorrected = ask<Count>(ecc_errors, device, errors_uncorrected, counter);
    if (!corrected || !uncorrected) return {};
    return MemoryErrors{.corrected = *corrected, .uncorrected = *uncorrected};
  }
  std::optional<Processes> list_processes(Device device) const {
    std::vector<Library::ProcessInfo> infos(64);
    auto count = static_cast<unsigned>(infos.size());
    int status = processes == nullptr ? not_found : processes(device, &count, infos.data());
    if (status == insufficient_size) {
      infos.resize(count + 64);  // more may come meanwhile
      count = static_cast<unsigned>(infos.size());
      status = processes(device, &count, infos.data());
    }
    if (status != success) return {};
    Processes pids;
    for (unsigned i = 0; i < count && i < infos.size(); ++i) pids.push_back(infos[i].pid);
    return pids;
  }
  std::optional<int> count_foreign_processes(Device device) const {
    const auto pids = list_processes(device);
    if (!pids) return {};
    return count_others(*pids, {static_cast<unsigned>(getpid())});
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
  const auto mig = Library::ask_mode(nvml.mig_mode, device_);
  info.mig = info.mig || (mig && mig->now);
  info.foreign_processes = nvml.count_foreign_processes(device_).value_or(0);
}

Health Nvml::health() const {
  const Library& nvml = *library_;
  constexpr unsigned unknown = std::numeric_limits<unsigned>::max();
  constexpr double not_reported = std::numeric_limits<double>::quiet_NaN();
  Health health;
  const unsigned temperature = Library::read(unknown, nvml.temperature, device_, temperature_gpu);
  health.temperature_c = temperature == unknown ? not_reported : temperature;
  const unsigned power_mw = Library::read(unknown, nvml.power, device_);
  health.power_w = power_mw == unknown ? not_reported : power_mw * 1e-3;
  health.sm_clock_hz = nvml.clock_hz(device_, clock_sm);
  health.memory_clock_hz = nvml.clock_hz(device_, clock_mem);
  health.throttle_reasons = Library::read(0ull, nvml.throttle_reasons, device_);
  health.ecc_corrected =
      Library::read(0ull, nvml.ecc_errors, device_, errors_corrected, counter_volatile);
  health.ecc_uncorrected =
      Library::read(0ull, nvml.ecc_errors, device_, errors_uncorrected, counter_volatile);
  if (const auto remaps = nvml.ask_remaps(device_)) {
    health.remapped_rows = remaps->corrected + remaps->uncorrected;
    health.remap_pending = remaps->pending;
    health.remap_failure = remaps->failed;
  }
  return health;
}

Processes Nvml::processes() const {
  return library_->list_processes(device_).value_or(Processes{});
}

PeerLink Nvml::link_to(const std::string& peer_uuid) const {
  const Library& nvml = *library_;
  Device peer = nullptr;
  if (nvml.handle_by_uuid(peer_uuid.c_str(), &peer) != success) return PeerLink::unknown;
  const auto has = [&](unsigned capability) {
    return Library::ask<unsigned>(nvml.p2p_status, device_, peer, capability) == p2p_ok;
  };
  if (has(p2p_nvlink)) return PeerLink::nvlink;
  return has(p2p_read) ? PeerLink::pcie : PeerLink::unknown;
}

PcieLink Nvml::pcie_link() const {
  const Library& nvml = *library_;
  const auto number = [&](auto function) -> std::optional<int> {
    const auto value = Library::ask<unsigned>(function, device_);
    // NVML returns 0 for a GPU without a PCIe link.
    return value && *value > 0 ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  return {.generation = number(nvml.link_generation),
          .width = number(nvml.link_width),
          .most_generation = number(nvml.most_link_generation),
          .most_width = number(nvml.most_link_width),
          .replays = Library::ask<unsigned>(nvml.link_replays, device_)};
}

Links Nvml::links() const {
  const Library& nvml = *library_;
  using Count = unsigned long long;
  Links links{.pcie = pcie_link(), .nvlinks = {}};
  for (unsigned link = 0; link < most_nvlinks; ++link) {
    const auto active = Library::ask<unsigned>(nvml.nvlink_state, device_, link);
    if (!active) continue;
    const auto errors = [&](unsigned counter) {
      return Library::ask<Count>(nvml.nvlink_errors, device_, link, counter);
    };
    links.nvlinks.push_back({.number = static_cast<int>(link),
                             .active = *active != 0,
                             .crc_errors = errors(nvlink_crc_flit),
                             .replays = errors(nvlink_replay),
                             .recoveries = errors(nvlink_recovery)});
  }
  return links;
}

GpuSettings Nvml::settings() const {
  const Library& nvml = *library_;
  const auto watts = [&](auto function) -> std::optional<double> {
    const auto milliwatts = Library::ask<unsigned>(function, device_);
    return milliwatts ? std::optional<double>(1e-3 * *milliwatts) : std::nullopt;
  };
  const auto flag = [&](auto function) -> std::optional<bool> {
    const auto number = Library::ask<unsigned>(function, device_);
    return number ? std::optional<bool>(*number != 0) : std::nullopt;
  };
  GpuSettings settings;
  settings.persistence = flag(nvml.persistence);
  if (const auto reasons = Library::ask<unsigned long long>(nvml.throttle_reasons, device_)) {
    settings.throttle_reasons = *reasons;
  }
  settings.power_limit_w = watts(nvml.power_limit);
  settings.default_power_limit_w = watts(nvml.default_power_limit);
  settings.ecc = Library::ask_mode(nvml.ecc_mode, device_);
  settings.errors_since_load = nvml.ask_errors(device_, counter_volatile);
  settings.errors_ever = nvml.ask_errors(device_, counter_aggregate);
  settings.page_retirement_pending = flag(nvml.retirement_pending);
  settings.remaps = nvml.ask_remaps(device_);
  settings.mig = Library::ask_mode(nvml.mig_mode, device_);
  if (const auto mode = Library::ask<unsigned>(nvml.compute_mode, device_); mode && *mode <= 3) {
    settings.compute_mode = static_cast<ComputeMode>(*mode);
  }
  settings.foreign_processes = nvml.count_foreign_processes(device_);
  return settings;
}

namespace {

bool is_among(const Processes& processes, unsigned pid) {
  return std::ranges::find(processes, pid) != processes.end();
}

}  // namespace

Processes find_own(const Processes& before, const Processes& after, unsigned self) {
  if (is_among(after, self)) return {self};
  Processes own;
  for (const unsigned pid : after) {
    if (!is_among(before, pid)) own.push_back(pid);
  }
  return own;
}

int count_others(const Processes& processes, const Processes& own) {
  return static_cast<int>(
      std::ranges::count_if(processes, [&own](unsigned pid) { return !is_among(own, pid); }));
}

}  // namespace sonde::cuda
