// Chases through the constant bank. Hardware effect: the latency of LDC with a register address,
// and so the constant caches behind it. What could spoil it: parameters of the kernel are
// constants, too, so the timed loop must read none (checked in SASS). A fence does not empty these
// caches: the line of the rehearsal's word stays. Whether they are empty when a kernel starts is
// not documented; a bank that was written must be seen by the next kernel, so the old lines of it
// cannot live on.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"

namespace sonde::kernels {
namespace {

__constant__ __align__(256) unsigned char constant_bank[bank_bytes];

/// A place is an offset in the bank, which the one constant of this file fills.
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
