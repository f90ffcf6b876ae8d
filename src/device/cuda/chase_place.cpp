// See chase_place.hpp.
#include "device/cuda/chase_place.hpp"

#include "base/error.hpp"

namespace sonde::cuda {
namespace {

constexpr std::uint64_t texel_bytes = 8;
static_assert(kernels::row_texels * texel_bytes == texture_row_bytes);
static_assert(kernels::bank_bytes == constant_bank_bytes);

}  // namespace

kernels::ChasePath to_chase_path(LoadPath path) {
  switch (path) {
    case LoadPath::ca: return kernels::ChasePath::ca;
    case LoadPath::cg: return kernels::ChasePath::cg;
    case LoadPath::nc: return kernels::ChasePath::nc;
    case LoadPath::cv: return kernels::ChasePath::cv;
    case LoadPath::constant: return kernels::ChasePath::constant;
    case LoadPath::texture_1d: return kernels::ChasePath::texture_1d;
    case LoadPath::texture_2d: return kernels::ChasePath::texture_2d;
    case LoadPath::atomic: return kernels::ChasePath::atomic;
    case LoadPath::instruction: break;
  }
  throw Error("code is executed, not loaded");
}

WordLayout word_layout(LoadPath path) {
  if (path == LoadPath::constant) return {4, 8};
  if (path == LoadPath::texture_2d) return {8, 2};
  return {8, 4};
}

std::uint64_t place_of(LoadPath path, std::uint64_t base_address, std::uint64_t offset_bytes) {
  switch (to_chase_path(path)) {
    case kernels::ChasePath::constant: return offset_bytes;
    case kernels::ChasePath::texture_1d: return offset_bytes / texel_bytes;
    case kernels::ChasePath::texture_2d:
      return offset_bytes / texture_row_bytes << 32 |
             offset_bytes % texture_row_bytes / texel_bytes;
    default: return base_address + offset_bytes;
  }
}

std::uint32_t script_unit(LoadPath path, std::uint32_t unit_bytes) {
  const bool counts_texels = path == LoadPath::texture_1d || path == LoadPath::texture_2d;
  return counts_texels ? unit_bytes / static_cast<std::uint32_t>(texel_bytes) : unit_bytes;
}

bool has_addresses(LoadPath path) {
  return path == LoadPath::ca || path == LoadPath::cg || path == LoadPath::nc ||
         path == LoadPath::cv || path == LoadPath::atomic;
}

std::uint64_t free_bank_offset(const std::vector<std::uint64_t>& taken_offsets_bytes) {
  constexpr std::uint64_t word_bytes = 4;
  std::vector<bool> taken(constant_bank_bytes / word_bytes, false);
  for (std::uint64_t offset_bytes : taken_offsets_bytes) taken[offset_bytes / word_bytes] = true;
  std::uint64_t word = taken.size() - 1;
  while (word > 0 && taken[word]) --word;
  return taken[word] ? constant_bank_bytes - word_bytes : word * word_bytes;
}

}  // namespace sonde::cuda
