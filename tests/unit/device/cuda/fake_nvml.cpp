// A libnvidia-ml.so.1 that knows one GPU, GPU-fake: functions of nvml.h that sonde uses, with
// numbers that differ wherever two could be mixed up. Others are left out, as an old driver does.
namespace {
constexpr int success = 0;
constexpr int not_found = 6;
constexpr int not_supported = 3;
constexpr int insufficient_size = 7;
struct ProcessInfo {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};
int device = 0;
int busy_device = 0;
int nvlink_peer = 0;
int pcie_peer = 0;

int tell(unsigned* value, unsigned number) {
  *value = number;
  return success;
}
}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVML's names
extern "C" {
int nvmlInit_v2() { return success; }
int nvmlShutdown() { return success; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  if (uuid[4] == 'p') {  // GPU-peer-nvlink, GPU-peer-pcie
    *handle = uuid[9] == 'n' ? &nvlink_peer : &pcie_peer;
    return success;
  }
  if (uuid[4] == 'b') {  // GPU-busy
    *handle = &busy_device;
    return success;
  }
  *handle = &device;
  return uuid[4] == 'f' ? success : not_found;
}
int nvmlDeviceGetP2PStatus(void*, void* peer, unsigned capability, unsigned* status) {
  constexpr unsigned nvlink = 2;
  constexpr unsigned not_ok = 5;
  return tell(status, capability == nvlink && peer != &nvlink_peer ? not_ok : 0);
}
int nvmlDeviceGetPersistenceMode(void*, unsigned* on) { return tell(on, 1); }
int nvmlDeviceGetClockInfo(void*, unsigned domain, unsigned* mhz) {
  return tell(mhz, 300 + domain);
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned domain, unsigned* mhz) {
  return tell(mhz, 1900 + domain);
}
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* c) { return tell(c, 40 + sensor); }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* mw) { return tell(mw, 500'000); }
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* mw) { return tell(mw, 700'000); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x5;
  return success;
}
int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* after_reset) {
  tell(now, 1);
  return tell(after_reset, 0);
}
int nvmlDeviceGetTotalEccErrors(void*, unsigned kind, unsigned counter, unsigned long long* count) {
  *count = 10 * counter + kind;
  return success;
}
int nvmlDeviceGetRemappedRows(void*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  tell(corrected, 3);
  tell(uncorrected, 4);
  tell(pending, 1);
  return tell(failed, 0);
}
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* number) { return tell(number, 4); }
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* lanes) { return tell(lanes, 8); }
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* number) { return tell(number, 5); }
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* lanes) { return tell(lanes, 16); }
int nvmlDeviceGetPcieReplayCounter(void*, unsigned* count) { return tell(count, 7); }
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* active) {
  if (link > 2) return not_supported;
  return tell(active, link == 1 ? 0 : 1);
}
int nvmlDeviceGetNvLinkErrorCounter(void*, unsigned link, unsigned counter,
                                    unsigned long long* count) {
  if (link == 1) return not_supported;  // it is inactive
  *count = 100 * link + 10 * counter;
  return success;
}
int nvmlDeviceGetComputeMode(void*, unsigned* mode) { return tell(mode, 3); }
/// Of a busy GPU 100 processes, numbers 1 to 100; of the other one not known.
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, ProcessInfo* infos) {
  if (handle != &busy_device) return not_supported;
  constexpr unsigned processes = 100;
  const unsigned room = *count;
  *count = processes;
  if (room < processes) return insufficient_size;
  for (unsigned i = 0; i < processes; ++i) infos[i].pid = i + 1;
  return success;
}
}
// NOLINTEND(readability-identifier-naming)
