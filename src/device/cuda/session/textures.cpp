// Makes the textures that chases fetch from, and refuses sizes that the device cannot have.
#include "device/cuda/session/textures.hpp"

#include "base/units.hpp"
#include "device/device_error.hpp"
#include "device/layout/place.hpp"

namespace sonde::cuda {
namespace {

using layout::texel_bytes;

cudaChannelFormatDesc texel_format() {
  return cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindUnsigned);
}

int current_device() {
  int ordinal = 0;
  SONDE_CUDA_CHECK(cudaGetDevice(&ordinal));
  return ordinal;
}

void check_size(std::uint64_t size_bytes, std::uint64_t most_bytes, const char* kind) {
  if (size_bytes <= most_bytes) return;
  throw_device_error(
      "a {} texture of this device spans at most {} (the probe's buffer and the place behind it "
      "for rehearsal take {}). Ask for a smaller buffer",
      kind, format_bytes(most_bytes), format_bytes(size_bytes));
}

}  // namespace

cudaTextureObject_t Texture::over_memory(const void* data, std::uint64_t size_bytes) {
  if (object_ != 0 && data_ == data && size_bytes_ == size_bytes) return object_;
  release();
  const cudaChannelFormatDesc format = texel_format();
  std::size_t most_texels = 0;
  SONDE_CUDA_CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&most_texels, &format, current_device()));
  check_size(size_bytes, most_texels * texel_bytes, "linear");
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(data);
  resource.res.linear.desc = format;
  resource.res.linear.sizeInBytes = size_bytes;
  create(resource);
  data_ = data;
  size_bytes_ = size_bytes;
  return object_;
}

cudaTextureObject_t Texture::over_rows(std::uint64_t rows) {
  const std::uint64_t size_bytes = rows * texture_row_bytes;
  if (object_ != 0 && array_ != nullptr && size_bytes_ == size_bytes) return object_;
  release();
  int most_rows = 0;
  SONDE_CUDA_CHECK(
      cudaDeviceGetAttribute(&most_rows, cudaDevAttrMaxTexture2DHeight, current_device()));
  check_size(size_bytes, static_cast<std::uint64_t>(most_rows) * texture_row_bytes,
             "two-dimensional");
  const cudaChannelFormatDesc format = texel_format();
  SONDE_CUDA_CHECK(cudaMallocArray(&array_, &format, texture_row_bytes / texel_bytes, rows));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array_;
  create(resource);
  size_bytes_ = size_bytes;
  return object_;
}

void Texture::fill_rows(const void* data, cudaStream_t stream) {
  SONDE_CUDA_CHECK(cudaMemcpy2DToArrayAsync(array_, 0, 0, data, texture_row_bytes,
                                            texture_row_bytes, size_bytes_ / texture_row_bytes,
                                            cudaMemcpyDeviceToDevice, stream));
}

void Texture::create(const cudaResourceDesc& resource) {
  cudaTextureDesc texture{};
  texture.addressMode[0] = cudaAddressModeClamp;
  texture.addressMode[1] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModePoint;
  texture.readMode = cudaReadModeElementType;
  texture.normalizedCoords = 0;
  SONDE_CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &texture, nullptr));
}

void Texture::release() {
  if (object_ != 0) SONDE_CUDA_WARN(cudaDestroyTextureObject(object_));
  if (array_ != nullptr) SONDE_CUDA_WARN(cudaFreeArray(array_));
  object_ = 0;
  array_ = nullptr;
  data_ = nullptr;
  size_bytes_ = 0;
}

}  // namespace sonde::cuda
