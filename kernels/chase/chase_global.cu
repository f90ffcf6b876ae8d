// Chases through global memory; finds the chases of the other files.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"
#include "kernels/chase/source.cuh"

namespace sonde::kernels {

Kernel<ChaseLaunch> find_chase(ChasePath path, Order order, Part part) {
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

Kernel<ChaseLaunch> find_overhead(Overhead overhead) {
  return overhead == Overhead::empty ? chase_kernel<NoChase<Overhead::empty>, true>
                                     : chase_kernel<NoChase<Overhead::sink>, true>;
}

}  // namespace sonde::kernels
