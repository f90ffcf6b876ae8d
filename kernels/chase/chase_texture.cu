// Chases through textures of 8-byte texels. Hardware effect: the latency of a fetch by coordinates,
// without filter, by one thread. A texel holds the next coordinates, so a fetch needs no
// arithmetic. Source of error: since sm_90 the handle is in uniform registers, which ptxas loads at
// their first use. A disabled fetch before the timed window forces this; it still passes through
// the pipe (about 95 cycles on an H200), and the code waits for it there.
#include "kernels/chase/chase.hpp"
#include "kernels/chase/chase_kernel.cuh"

namespace sonde::kernels {
namespace {

/// Loads the handle into the registers that fetches use.
class TextureHandle {
 public:
  explicit __device__ TextureHandle(const ChaseLaunch& launch) : handle_(launch.texture) {}
  __device__ __forceinline__ void make_ready() {
    asm volatile(
        "{\n.reg .pred p;\n.reg .b32 y, z, w;\nsetp.ne.u32 p, %1, 0;\n"
        "@p tex.1d.v4.u32.s32 {%0, y, z, w}, [%2, {%0}];\nadd.u32 %0, %0, %1;\n}"
        : "+r"(readied_)
        : "r"(threadIdx.y), "l"(handle_)
        : "memory");
  }
  __device__ __forceinline__ std::uint32_t readied() const { return readied_; }

 protected:
  std::uint64_t handle_;

 private:
  std::uint32_t readied_ = 0;
};

class LinearTexture : public IndexPlaces, public TextureHandle {
 public:
  using TextureHandle::TextureHandle;
  __device__ __forceinline__ Place load(Place place) const {
    Place value;
    asm volatile("{\n.reg .b32 y, z, w;\ntex.1d.v4.u32.s32 {%0, y, z, w}, [%1, {%2}];\n}"
                 : "=r"(value)
                 : "l"(handle_), "r"(place)
                 : "memory");
    return value;
  }
};

class TiledTexture : public TextureHandle {
 public:
  using Place = uint2;
  static __device__ __forceinline__ Place from_word(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  static __device__ __forceinline__ std::uint64_t to_word(Place place) {
    return std::uint64_t{place.y} << 32 | place.x;
  }
  /// Texels are counted row by row.
  static __device__ __forceinline__ Place at(Place base, std::uint32_t step, std::uint32_t unit,
                                             Place zero) {
    const std::uint32_t texel = IndexPlaces::at(base.x, step, unit, zero.x);
    Place place;
    asm volatile("and.b32 %0, %1, %2;" : "=r"(place.x) : "r"(texel), "n"(row_texels - 1));
    asm volatile("shr.u32 %0, %1, %2;" : "=r"(place.y) : "r"(texel), "n"(row_texels_log2));
    place.y += base.y;
    return place;
  }
  using TextureHandle::TextureHandle;
  __device__ __forceinline__ Place load(Place place) const {
    Place value;
    asm volatile("{\n.reg .b32 z, w;\ntex.2d.v4.u32.s32 {%0, %1, z, w}, [%2, {%3, %4}];\n}"
                 : "=r"(value.x), "=r"(value.y)
                 : "l"(handle_), "r"(place.x), "r"(place.y)
                 : "memory");
    return value;
  }
};

}  // namespace

Kernel<ChaseLaunch> texture_1d_kernel(Order order, Part part) {
  return chase_kernel_of<LinearTexture>(order, part);
}

Kernel<ChaseLaunch> texture_2d_kernel(Order order, Part part) {
  return chase_kernel_of<TiledTexture>(order, part);
}

}  // namespace sonde::kernels
