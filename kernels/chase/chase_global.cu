// Chases through global memory, and which file has the others.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"
#include "kernels/source.cuh"

namespace sonde::kernels {
namespace {

ChaseKernel kernel_of_path(ChasePath path, Order order, Part part) {
  switch (path) {
    case ChasePath::ca: return chase_kernel_of<GlobalSource<Load::ca>>(order, part);
    case ChasePath::cg: return chase_kernel_of<GlobalSource<Load::cg>>(order, part);
    case ChasePath::nc: return chase_kernel_of<GlobalSource<Load::nc>>(order, part);
    case ChasePath::cv: return chase_kernel_of<GlobalSource<Load::cv>>(order, part);
    case ChasePath::atomic: return chase_kernel_of<AtomicSource>(order, part);
    case ChasePath::constant: return constant_kernel(order, part);
    case ChasePath::texture_1d: return texture_1d_kernel(order, part);
    case ChasePath::texture_2d: return texture_2d_kernel(order, part);
  }
  return nullptr;
}

}  // namespace

unsigned chase_shared_bytes(const ChaseLaunch& launch) {
  const std::uint64_t histogram_bytes = launch.histograms ? chase_bins * 4 : 0;
  const std::uint64_t record_bytes = (launch.recorded * 2 + 3) / 4 * 4;
  const std::uint64_t warp_bytes =
      histogram_bytes + record_bytes + std::uint64_t{launch.script_capacity} * 4;
  const std::uint64_t bytes = sink_bytes + launch.warps * warp_bytes;
  return bytes < 0xffffffffu ? static_cast<unsigned>(bytes) : 0xffffffffu;
}

cudaError_t launch_chase(const ChaseLaunch& launch, ChasePath path, Order order,
                         const LaunchShape& shape, cudaStream_t stream) {
  const Part part = launch.timed > 0 ? Part::windows : Part::amortised;
  const ChaseKernel kernel = kernel_of_path(path, order, part);
  if (kernel == nullptr) return cudaErrorInvalidValue;
  return launch_kernel(kernel, launch, shape, stream);
}

cudaError_t launch_warm_up(const ChaseLaunch& launch, ChasePath path, const LaunchShape& shape,
                           cudaStream_t stream) {
  return launch_kernel(kernel_of_path(path, Order::chain, Part::shared_warm_up), launch, shape,
                       stream);
}

cudaError_t launch_overhead(const ChaseLaunch& launch, Overhead overhead, const LaunchShape& shape,
                            cudaStream_t stream) {
  const ChaseKernel kernel = overhead == Overhead::empty
                                 ? chase_kernel<NoChase<Overhead::empty>, true>
                                 : chase_kernel<NoChase<Overhead::sink>, true>;
  return launch_kernel(kernel, launch, shape, stream);
}

}  // namespace sonde::kernels
