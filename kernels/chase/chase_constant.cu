// Chases through the constant bank. Hardware effect: the latency of LDC with a register address,
// and thereby the constant caches. Sources of error: kernel parameters are constants, too, so the
// timed loop must read none (checked in SASS). A fence does not empty these caches: the line of the
// rehearsal stays. It is not documented whether they are empty when a kernel starts; but the next
// kernel must see a newly written bank, so old lines cannot survive.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"

namespace sonde::kernels {
namespace {

__constant__ __align__(256) unsigned char constant_bank[bank_bytes];

/// A place is an offset in the bank, which is the only constant of this file.
class ConstantSource : public IndexPlaces, public ReadySource {
 public:
  explicit __device__ ConstantSource(const ChaseLaunch&)
      : bank_(static_cast<std::uint32_t>(__cvta_generic_to_constant(constant_bank))) {}
  __device__ __forceinline__ Place load(Place place) const {
    Place value;
    asm volatile("ld.const.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(std::uint64_t{bank_ + place})
                 : "memory");
    return value;
  }

 private:
  std::uint32_t bank_;
};

}  // namespace

Kernel<ChaseLaunch> constant_kernel(Order order, Part part) {
  return chase_kernel_of<ConstantSource>(order, part);
}

cudaError_t fill_constant_bank(const void* bytes, cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(constant_bank, bytes, bank_bytes, 0, cudaMemcpyDefault, stream);
}

}  // namespace sonde::kernels
