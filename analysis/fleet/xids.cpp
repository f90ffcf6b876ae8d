// The table of Xid errors. Sources:
// [catalogue] https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html (in [gpud]):
//   text and action (the comment behind each row). "unused": not on Ampere and newer GPUs.
// [guide] https://docs.nvidia.com/deploy/gpu-debug-guidelines/
// [memory] https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/
// [gpud] https://github.com/leptonai/gpud, components/accelerator/nvidia/xid/xid.go: what NVIDIA's
//   older lists and other operators (AWS, Google, Azure, DeepSeek) say of each code.
// [eks] https://github.com/aws/eks-node-monitoring-agent: fatal codes. [plugin]
//   https://github.com/NVIDIA/k8s-device-plugin, internal/rm/health.go: codes of programs.
#include "analysis/fleet/xids.hpp"

#include <algorithm>

namespace sonde {
namespace {

using enum XidBlame;
using enum Severity;

// RESET_GPU of [catalogue]; what follows if that does not help: [eks].
constexpr std::string_view reset =
    "Stop the programs on the GPU and reset it. If the error comes back, reboot the node; then "
    "replace the GPU.";
// Several programs on one GPU: [guide] on 13 and 31.
constexpr std::string_view debug =
    "Debug the program. If several programs show the error on this GPU only, run dcgmi diag.";
// CONTACT_SUPPORT of [catalogue]; nvidia-bug-report.sh: https://docs.nvidia.com/deploy/rma-process/
constexpr std::string_view report =
    "If the error comes back, run nvidia-bug-report.sh and contact the vendor of the system.";
// [gpud] on 48 (NVIDIA, AWS, Google); SRAM Threshold Exceeded: [eks] on WORKFLOW_XID_48.
constexpr std::string_view uncorrectable =
    "Stop the programs on the GPU and reset it. If nvidia-smi -q -d ECC,ROW_REMAPPER then says Yes "
    "for SRAM Threshold Exceeded or Remapping Failure Occurred, replace the GPU.";
// WORKFLOW_NVLINK_ERR of [catalogue] and [eks].
constexpr std::string_view seat_link =
    "Reset the GPU or reboot the node. If the error comes back, check and seat the connections of "
    "the link, then run field diagnostics.";
// WORKFLOW_NVLINK5_ERR of [catalogue]: the registers in the message decide.
constexpr std::string_view read_link =
    "Read the message in dmesg: it names the link and says whether the error is fatal. If it is "
    "fatal or the link stays down, reset the GPU.";
// [gpud] on 119 (NVIDIA: reset or power cycle; AWS, Alibaba, Tencent: GSP off).
constexpr std::string_view restart_gsp =
    "Reset the GPU, or power the node off and on. If the error comes back, update the driver, or "
    "turn off the GSP firmware.";

constexpr XidMeaning table[] = {
    {8, "GPU stopped processing", driver, warn, report},         // RESTART_APP, CONTACT_SUPPORT
    {13, "graphics engine exception", program, info, debug},     // RESTART_APP
    {31, "GPU memory page fault", program, info, debug},         // RESTART_APP
    {32, "invalid or corrupted push buffer stream", link, warn,  // RESTART_APP; PCIe: [gpud]
     "Start the program again. If the error comes back, check the PCIe link of the GPU."},
    {38, "driver firmware error", driver, warn, report},  // IGNORE, CONTACT_SUPPORT
    {43, "GPU stopped processing after an error of the program", program, info, debug},  // IGNORE
    {44, "graphics engine fault during context switch", driver, warn, report},  // CONTACT_SUPPORT
    {45, "preemptive cleanup after an earlier error", program, info,            // WORKFLOW_XID_45
     "Follow the Xid before it. If there is none, the program was ended."},
    {46, "GPU stopped processing after a timeout", gpu, fail, reset},     // RESET_GPU
    {48, "double bit ECC error", memory, fail, uncorrectable},            // WORKFLOW_XID_48
    {54, "auxiliary power is not connected to the GPU board", gpu, fail,  // CHECK_MECHANICALS
     "Power the node off and connect the power cables of the GPU."},
    {56, "display engine error", gpu, warn, report},                       // unused
    {57, "error programming the memory interface", memory, warn, report},  // unused; text: [gpud]
    {58, "unstable memory interface", memory, warn, report},               // unused; text: [gpud]
    {61, "internal micro-controller breakpoint", gpu, fail, reset},        // unused; [guide]: reset
    {62, "internal micro-controller halt", gpu, fail, reset},              // RESET_GPU
    {63, "GPU memory remapping event", memory, warn,  // IGNORE; a reset to take effect: [memory]
     "Programs may go on. Reset the GPU when it is idle: the bad row is replaced then."},
    {64, "GPU memory remapping failure", memory, fail,  // RESET_GPU; reboot: [guide]
     "Reboot the node. If nvidia-smi -q -d ROW_REMAPPER says Yes for Remapping Failure Occurred, "
     "replace the GPU."},
    {66, "illegal access by the driver", driver, warn, report},  // IGNORE, INVESTIGATE_SW
    {67, "illegal access by the driver", driver, warn, report},  // IGNORE, CONTACT_SUPPORT
    {68, "video decoder exception", program, info, debug},       // RESTART_APP; program: [plugin]
    {69, "graphics engine class error", program, info, debug},   // RESTART_APP
    {73, "video encoder error", gpu, warn, report},              // unused
    {74, "NVLink error", link, fail, seat_link},                 // WORKFLOW_NVLINK_ERR
    {79, "GPU has fallen off the bus", gpu, fail,                // RESTART_BM; drain: [guide]
     "Drain the node and power it off and on. If the error comes back, seat the GPU and its power "
     "cables, then replace the GPU."},
    {92, "high rate of corrected ECC errors", memory, warn,  // IGNORE; field diagnostics: [guide]
     "If the count in nvidia-smi -q -d ECC keeps rising, run field diagnostics."},
    {93, "InfoROM wear limit exceeded", gpu, warn, report},  // IGNORE, CONTACT_SUPPORT
    {94, "contained memory error", memory, warn,             // RESTART_APP; reset: [memory]
     "Start the failed program again. Reset the GPU when idle: the bad row is replaced then."},
    {95, "uncontained memory error", memory, fail, uncorrectable},  // RESET_GPU
    {109, "context switch timeout", gpu, fail, reset},              // RESET_GPU; [plugin]: program
    {110, "security fault", gpu, fail, reset},                      // RESET_GPU
    {119, "GSP RPC timeout", driver, fail, restart_gsp},            // RESET_GPU, INVESTIGATE_SW
    {120, "GSP error", driver, fail, restart_gsp},                  // RESET_GPU, INVESTIGATE_SW
    {121, "corrected errors of the C2C link", link, warn,           // IGNORE; reset: [gpud]
     "Reset the GPU when it is idle: the link to the CPU is trained again then."},
    {122, "SPI PMU RPC read failure", gpu, warn, report},         // unused
    {123, "SPI PMU RPC write failure", gpu, fail, reset},         // unused; reset: [gpud], [guide]
    {136, "NVLink training failed", link, fail, seat_link},       // RESET_GPU, INVESTIGATE_LINK_SI
    {137, "NVLink privilege error", program, info, debug},        // IGNORE; program: [gpud]
    {140, "unrecovered ECC error", memory, fail, uncorrectable},  // RESET_GPU
    {143, "GPU initialization error", gpu, fail, reset},          // RESET_GPU
    {144, "NVLink SAW error", link, warn, read_link},  // 144 to 150: WORKFLOW_NVLINK5_ERR
    {145, "NVLink RLW error", link, warn, read_link},
    {146, "NVLink TLW error", link, warn, read_link},
    {147, "NVLink TREX error", link, warn, read_link},
    {148, "NVLink NVLPW_CTRL error", link, warn, read_link},
    {149, "NVLink NETIR error", link, warn, read_link},
    {150, "NVLink MSE error", link, warn, read_link},
    {151, "key rotation error", driver, fail,  // RESTART_VM: confidential computing
     "Restart the virtual machine. If the error comes back, contact the vendor of the system."},
    {154, "GPU recovery action changed", gpu, warn,  // XID_154: speaks of another Xid
     "The message in dmesg says what the GPU needs: nothing, a reset or a reboot. Field "
     "gpu_recovery_action of nvidia-smi --query-gpu says what it needs now."},
    {155, "NVLink error defined by software", link, fail, seat_link},  // RESET_GPU
    {156, "resource retirement event", gpu, fail,                      // RESET_GPU, then IGNORE
     "Reset the GPU: the bad part is retired then."},
    {157, "resource retirement failure", gpu, warn,  // IGNORE, CONTACT_SUPPORT
     "Run nvidia-smi -q -d ECC. If it says Yes for Unrepairable Memory, replace the GPU."},
    {158, "GPU fatal timeout", gpu, fail, reset},                    // RESET_GPU
    {171, "uncorrectable DRAM error", memory, fail, uncorrectable},  // in addition to 48
    {172, "uncorrectable SRAM error", memory, fail, uncorrectable},  // in addition to 48
};

constexpr XidMeaning unknown{
    0, "not in the table of sonde", gpu, warn,
    "Look the code up in NVIDIA's catalogue: "
    "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"};

}  // namespace

const XidMeaning& meaning_of_xid(int code) {
  const auto found = std::ranges::find(table, code, &XidMeaning::code);
  return found != std::end(table) ? *found : unknown;
}

std::span<const XidMeaning> all_xids() { return table; }

}  // namespace sonde
