// Textures over the session's memory, or over an array whose order of tiles the device chooses.
#pragma once

#include "device/cuda/session/cuda_check.hpp"

#include <cstddef>
#include <cstdint>

namespace sonde::cuda {

/// Owns one texture of 8-byte texels (two 32-bit integers), read without filter by whole-numbered
/// coordinates, over linear memory or over an array that it also owns. Kept until another one is
/// asked for; no kernel may use it then.
class Texture {
 public:
  Texture() = default;
  ~Texture() { release(); }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  /// @throws DeviceError if the device has no linear textures of that size
  cudaTextureObject_t over_memory(const void* data, std::uint64_t size_bytes);

  /// @throws DeviceError if the device has no textures with so many rows (of texture_row_bytes)
  cudaTextureObject_t over_rows(std::uint64_t rows);

  /// Queues a copy of all rows of linear memory into the array.
  void fill_rows(const void* data, cudaStream_t stream);

 private:
  void create(const cudaResourceDesc& resource);
  void release();

  cudaTextureObject_t object_ = 0;
  cudaArray_t array_ = nullptr;
  const void* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;  // of the memory or of the rows
};

}  // namespace sonde::cuda
