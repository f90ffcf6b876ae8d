// Chains of operations on every SM at once.
#include "kernels/arithmetic/arithmetic.hpp"
#include "base/gpu_facts.hpp"
#include "device/cuda/lanes/lane_launch.hpp"
#include "device/cuda/play/play.hpp"
#include "device/device_error.hpp"

namespace sonde::cuda {
namespace {

std::string name_of(const ArithmeticProbe& probe) {
  return probe.second.empty() ? probe.op : probe.op + " with " + probe.second;
}

const kernels::ArithmeticKernel& find_kernel(const DeviceInfo& info, const ArithmeticProbe& probe) {
  const kernels::ArithmeticKernel* kernel =
      kernels::find_arithmetic(probe.op, probe.second, probe.ilp);
  if (kernel == nullptr) {
    throw_device_error(
        "there is no kernel of {} with ilp {} (each is compiled on its own). Ask "
        "for another ilp",
        name_of(probe), probe.ilp);
  }
  const int capability = 10 * info.compute_major + info.compute_minor;
  if (capability < kernel->least_capability ||
      (kernel->this_alone && capability != kernel->least_capability)) {
    throw_device_error(
        "{} needs compute capability {}.{}{} (this GPU has {}.{} and lacks the instruction). Use "
        "another GPU",
        name_of(probe), kernel->least_capability / 10, kernel->least_capability % 10,
        kernel->this_alone ? " and no other" : "", info.compute_major, info.compute_minor);
  }
  return *kernel;
}

/// A step of one warp takes at most some thousand cycles (divisions in double precision on GPUs
/// with hardly any units for them), and warps may run one after the other.
TimeLimit arithmetic_limit(const ArithmeticProbe& probe) {
  const auto steps = probe.steps * static_cast<std::uint64_t>(probe.warps * probe.ilp);
  return {std::chrono::seconds(1) + std::chrono::microseconds(2) * steps};
}

}  // namespace

Trace play(Session& session, const ArithmeticProbe& probe) {
  const DeviceInfo& info = session.info();
  const kernels::ArithmeticKernel& kernel = find_kernel(info, probe);
  const auto most_warps = static_cast<int>(kernel.most_warps);
  if (probe.warps > std::min(most_warps, info.max_threads_per_block / info.warp_threads)) {
    throw_device_error(
        "{} warps are too many for a block (an SM has one block). Ask for at most {}", probe.warps,
        most_warps);
  }
  const std::vector<int> sms = probe.sms.empty() ? all_sms(info) : rank_sms(probe.sms).sms;
  const auto chains =
      static_cast<std::uint64_t>(probe.warps) * static_cast<std::uint64_t>(probe.ilp);
  LaneLaunch lanes(session, {.sms = sms, .recorded = 0, .accesses = chains * probe.steps},
                   arithmetic_limit(probe));
  kernels::ArithmeticLaunch launch;
  launch.rounds = static_cast<std::uint32_t>(probe.steps / kernel.body_steps);
  const auto threads = static_cast<unsigned>(probe.warps) * warp_threads;
  return lanes.run(kernel.function, launch, threads,
                   layout::plan_shared(info, kernel.shared_bytes));
}

std::string machine_code(const std::string& op) {
  const kernels::ArithmeticKernel* kernel = kernels::find_arithmetic(op, "", 1);
  if (kernel == nullptr) return {};
  int target = 0;
  SONDE_CUDA_CHECK(kernels::find_arithmetic_target(&target, *kernel));
  return std::string(kernels::arithmetic_machine_code(op, target));
}

}  // namespace sonde::cuda
