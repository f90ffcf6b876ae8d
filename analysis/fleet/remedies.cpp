// The table of remedies. Sources:
// [smi] https://docs.nvidia.com/deploy/nvidia-smi/ (-d PCIE does not exist)
// [dcgm] https://docs.nvidia.com/datacenter/dcgm/latest/reference/ (dcgmi diag and its plugins)
// [memory] https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/
// [guide] https://docs.nvidia.com/deploy/gpu-debug-guidelines/
// [rma] https://docs.nvidia.com/deploy/rma-process/
// [fabric] https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
// [catalogue] https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
// [eks] https://github.com/aws/eks-node-monitoring-agent
// [debug] https://github.com/stas00/ml-engineering, compute/accelerator/nvidia/debug.md
#include "analysis/fleet/remedies.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

/// {gpu} is the quoted UUID; {number} asks the node for the number by which DCGM knows the GPU.
struct Remedy {
  Trouble trouble;
  std::array<std::string_view, 6> lines;  // unused ones are empty
};

constexpr std::string_view xids = "dmesg | grep -i xid";
constexpr std::string_view fallen = "dmesg | grep -i -e xid -e 'fallen off'";
constexpr std::string_view recovery =
    "nvidia-smi -i {gpu} --query-gpu=gpu_recovery_action --format=csv";
constexpr std::string_view ecc = "nvidia-smi -i {gpu} -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT";
constexpr std::string_view rows = "nvidia-smi -i {gpu} -q -d ROW_REMAPPER";
constexpr std::string_view clocks = "nvidia-smi -i {gpu} -q -d CLOCK,POWER,TEMPERATURE,PERFORMANCE";
constexpr std::string_view pcie =
    "nvidia-smi -i {gpu} --query-gpu=pcie.link.gen.current,pcie.link.gen.max,"
    "pcie.link.width.current,pcie.link.width.max --format=csv";
constexpr std::string_view links = "nvidia-smi nvlink -i {gpu} -s";
constexpr std::string_view reset =
    "drain the node, then reset the GPU: nvidia-smi -i {gpu} --gpu-reset";
constexpr std::string_view diagnose = "dcgmi diag -r 3 -i {number}";
constexpr std::string_view copy = "dcgmi diag -r pcie -i {number}";
constexpr std::string_view replace =
    "if the trouble comes back after the reset and a reboot, replace the GPU";

constexpr Remedy table[] = {
    {Trouble::contention,  // [smi]: another program uses the GPU, nothing is broken
     {"nvidia-smi -i {gpu} --query-compute-apps=pid,name,used_memory --format=csv",
      "measure again on an idle GPU"}},
    {Trouble::lost,  // [catalogue] RESTART_BM of Xid 79; [guide]: drain; [rma]: seat
     {"nvidia-smi -L | grep -F -e {gpu}", fallen, "drain the node and power it off and on",
      "if the GPU is lost again, seat it and its power cables, then replace it"}},
    {Trouble::hang,  // [catalogue] RESET_GPU; [eks]: reset, reboot, replace; [memory]: action
     {xids, recovery, reset, diagnose, replace}},
    {Trouble::sticky_error,  // the same
     {xids, recovery, reset, diagnose, replace}},
    {Trouble::wrong_data,  // [debug]: level 4 finds silent errors, but not all of them
     {ecc, xids, "drain the node: results of this GPU are wrong", "dcgmi diag -r 4 -i {number}",
      "replace the GPU if that fails; if it passes, measure again: it misses some errors"}},
    {Trouble::ecc_uncorrected,  // [catalogue] WORKFLOW_XID_48; [eks]: SRAM threshold
     {ecc, xids, reset,
      "replace the GPU if SRAM Threshold Exceeded, Unrepairable Memory or Remapping Failure "
      "Occurred says Yes, or if the errors come back"}},
    {Trouble::ecc_corrected,  // [guide] on Xid 92: field diagnostics if the rate is excessive
     {ecc, "no data was lost; if the count keeps rising, run field diagnostics"}},
    {Trouble::remap_pending,  // [memory]: done at the next reset; programs may run until then
     {rows, "programs may run; when the GPU is idle, reset it: nvidia-smi -i {gpu} --gpu-reset"}},
    {Trouble::remap_failure,  // [memory]: RMA policy; [rma]: bug report, field diagnostics
     {rows, "drain the node and run nvidia-bug-report.sh",
      "run field diagnostics and replace the GPU"}},
    {Trouble::xid,  // [catalogue]; meaning_of_xid() has the remedy of each code
     {xids, recovery, "docs/remedies.md says what to do about each code"}},
    {Trouble::clock,  // [smi]: clocks event reasons, -rgc
     {clocks, "Clocks Event Reasons names what holds the clock down",
      "if the clocks were locked, unlock them: nvidia-smi -i {gpu} -rgc"}},
    {Trouble::thermal,  // [dcgm]: message of thermal violations
     {clocks, "check its cooling: air or coolant, fans, heat sink and thermal interface"}},
    {Trouble::power,  // [smi]: power limits, -pl, HW Power Brake Slowdown
     {clocks, "if Current Power Limit is below the default, set it: nvidia-smi -i {gpu} -pl WATTS",
      "if HW Power Brake Slowdown is active, check the power supplies of the node"}},
    {Trouble::pcie_link,  // [dcgm]: plugin pcie finds slow and narrow links; [rma]: seat, slot
     {pcie,
      "lspci -vv -s $(nvidia-smi -i {gpu} --query-gpu=pci.bus_id --format=csv,noheader) | "
      "grep -i lnksta",
      "dmesg | grep -i -e aer -e 'pcie bus error'", copy,
      "drain the node and seat the card or module; if it stays, try another slot"}},
    {Trouble::nvlink,  // [smi]; [catalogue] WORKFLOW_NVLINK_ERR; [fabric]: log
     {links, "nvidia-smi nvlink -i {gpu} -e", "dmesg | grep -i -e xid -e nvlink",
      "on NVSwitch systems: tail -n 50 /var/log/fabricmanager.log", reset,
      "if the link stays down, check and seat its connections (bridge, cable or tray), then run "
      "field diagnostics"}},
    {Trouble::host_rate,  // [dcgm]: plugin pcie; [smi]: topo -m
     {pcie, "nvidia-smi topo -m", copy,
      "bind the process to the CPU Affinity of the GPU and measure again"}},
    {Trouble::peer_rate,  // [smi]; [fabric]: State must be Completed; [dcgm]: plugin pcie
     {links, "nvidia-smi topo -m",
      "nvidia-smi -i {gpu} --query-gpu=fabric.state,fabric.status --format=csv",
      "on an idle node, for all of its GPUs: dcgmi diag -r pcie"}},
    {Trouble::memory_rate,  // [dcgm]: level 3 has memory tests
     {ecc, clocks, diagnose}},
    {Trouble::slice,  // [dcgm]: a pass says only that what was tested works
     {ecc, diagnose, "a pass of dcgmi does not prove that each slice is healthy: measure again"}},
    {Trouble::sm,  // the same
     {clocks, diagnose, "a pass of dcgmi does not prove that each SM is healthy: measure again"}},
    {Trouble::structure,  // [smi]: settings by which GPUs of one model differ
     {"nvidia-smi -i {gpu} --query-gpu=name,vbios_version,mig.mode.current,ecc.mode.current,"
      "memory.total --format=csv",
      "compare that with another GPU of the model"}},
    {Trouble::fewer_gpus,  // [guide]: does the bus see it? The UUID is not known
     {"nvidia-smi -L", "lspci -d 10de:", fallen, "drain the node and power it off and on",
      "if the GPU stays away, seat it and its power cables, then replace it"}},
    {Trouble::unknown,  // [smi]; [dcgm]
     {"nvidia-smi -i {gpu} -q", xids, diagnose}},
};

static_assert(std::size(table) == static_cast<std::size_t>(Trouble::unknown) + 1);

}  // namespace

std::vector<std::string> remedies(Trouble trouble, std::string_view uuid) {
  const std::string gpu = quote_shell(uuid);
  const std::string number =
      fmt::format("$(nvidia-smi -i {} --query-gpu=index --format=csv,noheader)", gpu);
  std::vector<std::string> all;
  for (const std::string_view line : std::ranges::find(table, trouble, &Remedy::trouble)->lines) {
    if (line.empty()) break;
    all.push_back(
        fmt::format(fmt::runtime(line), fmt::arg("gpu", gpu), fmt::arg("number", number)));
  }
  return all;
}

}  // namespace sonde
