// The checks of one GPU: its settings, its state, and who else is on it.
#include "analysis/fleet/conditions.hpp"
#include "doctor/checks.hpp"

#include <fmt/format.h>

namespace sonde {
namespace {

using std::string;

string when(bool bad, const string& line) { return bad ? line : ""; }

/// What NVML says of the GPU; nothing at all if it is not there.
GpuSettings nvml(F f) { return f.gpu.settings.value_or(GpuSettings{}); }

/// Advice to call nvidia-smi for the GPU.
string smi(F f, const string& words) {
  return fmt::format(" -> nvidia-smi -i {} {}", f.gpu.uuid, words);
}

// nvml.h, nvmlClocksEventReason*: slowdown, thermal slowdown and power brake; application clocks
// and clocks that are kept as those of another GPU.
constexpr std::uint64_t hardware_reasons = 0x08 | 0x40 | 0x80;
constexpr std::uint64_t setting_reasons = 0x02 | 0x10;
// An idle GPU so near to its slowdown temperature will reach it at work.
constexpr double temperature_margin_c = 10;
string judge_throttling(F f) {
  const std::uint64_t reasons = nvml(f).throttle_reasons.value();
  const string text = throttle_text(reasons & ~hardware_reasons);
  if (!text.empty()) return text + " -> look at the power cap; nvidia-smi -q -d PERFORMANCE";
  return when((reasons & setting_reasons) != 0,
              "clocks are held by a setting" + smi(f, "-rgc") + " and -rac");
}

string judge_ecc(F f) {
  const GpuMode ecc = nvml(f).ecc.value();
  if (ecc.now != ecc.after_reset) {
    return fmt::format("{} after a reset", ecc.after_reset ? "on" : "off") + smi(f, "--gpu-reset");
  }
  return when(!ecc.now, "off (compared only with GPUs without ECC)" + smi(f, "-e 1"));
}

string judge_errors(F f) {
  const MemoryErrors recent = nvml(f).errors_since_load.value();
  const MemoryErrors ever = nvml(f).errors_ever.value_or(recent);
  return when(recent.uncorrected + ever.uncorrected + recent.corrected > 0,
              fmt::format("since the driver was loaded: {} uncorrected, {} corrected; ever: {}, {} "
                          "-> dcgmi diag -r 3 if uncorrected; watch whether they grow",
                          recent.uncorrected, recent.corrected, ever.uncorrected, ever.corrected));
}

using enum Subject;
using enum CheckSeverity;
constexpr CheckRow rows[]{
    {gpu, "device", informs,
     [](F f) { return fmt::format("{}  {}  {}", f.gpu.uuid, f.gpu.name, f.gpu.pci_bus_id); }},
    {gpu, "mig", fails_unless_shared,
     [](F f) {
       return when(f.gpu.uuid.starts_with("MIG") || nvml(f).mig.value_or(GpuMode{}).now,
                   "on: this is a slice of a GPU -> nvidia-smi -mig 0");
     }},
    {gpu, "mps", fails_unless_shared,
     [](F f) { return when(f.gpu.mps, "CUDA reaches it through MPS -> stop the MPS daemon"); }},
    {gpu, "compute_mode", fails,
     [](F f) {
       return when(nvml(f).compute_mode.value() == ComputeMode::nobody,
                   "prohibited: no process may compute" + smi(f, "-c DEFAULT"));
     }},
    {gpu, "processes", fails_unless_shared,
     [](F f) {
       const int others = nvml(f).foreign_processes.value();
       return when(others > 0, fmt::format("{} others -> end them (see nvidia-smi)", others));
     }},
    {gpu, "persistence", warns,
     [](F f) {
       return when(!nvml(f).persistence.value(),
                   "off (the driver starts anew for every process)" + smi(f, "-pm 1"));
     }},
    {gpu, "slowdown", fails,
     [](F f) {
       const std::uint64_t reasons = nvml(f).throttle_reasons.value() & hardware_reasons;
       return when(reasons != 0,
                   fmt::format("the hardware lowers the clocks: {} -> look at cooling "
                               "and power; nvidia-smi -q -d PERFORMANCE",
                               throttle_text(reasons)));
     }},
    {gpu, "throttling", warns, judge_throttling},
    {gpu, "clocks", warns,
     [](F f) {
       return when(
           nvml(f).application_clock_hz.value() < nvml(f).default_application_clock_hz.value(),
           "application clocks are below their default" + smi(f, "-rac"));
     }},
    {gpu, "power", warns,
     [](F f) {
       const double limit_w = nvml(f).power_limit_w.value();
       const double usual_w = nvml(f).default_power_limit_w.value();
       return when(limit_w < usual_w,
                   fmt::format("limit {:.0f} W, default {:.0f} W", limit_w, usual_w) +
                       smi(f, fmt::format("-pl {:.0f}", usual_w)));
     }},
    {gpu, "temperature", warns,
     [](F f) {
       const double now_c = nvml(f).temperature_c.value();
       return when(now_c >= nvml(f).slowdown_temperature_c.value() - temperature_margin_c,
                   fmt::format("{:.0f} C, idle -> look at fans and airflow", now_c));
     }},
    {gpu, "ecc", warns, judge_ecc},
    {gpu, "memory_errors", warns, judge_errors},
    {gpu, "memory_repairs", fails,
     [](F f) {
       return when(nvml(f).remaps.value().failed,
                   "a row could not be remapped: no spare ones are left -> have the GPU exchanged");
     }},
    {gpu, "memory_pending", warns,
     [](F f) {
       const GpuSettings s = nvml(f);  // newer GPUs remap rows, older ones retire pages
       return when(s.remaps ? s.remaps->pending : s.page_retirement_pending.value(),
                   "a repair waits for a reset" + smi(f, "--gpu-reset"));
     }},
    {gpu, "cpus", warns,
     [](F f) {
       return when(f.near_cpus.value().usable.empty(),
                   fmt::format("none near it ({}) may be used -> --cpu-bind=none (srun), --bind-to "
                               "none (mpirun), or ask for these",
                               f.near_cpus->near));
     }},
};

}  // namespace

std::span<const CheckRow> gpu_rows() { return rows; }

}  // namespace sonde
