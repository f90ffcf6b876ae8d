// Turns offsets in a buffer into the places of a load path.
#include "device/layout/place.hpp"

namespace sonde::layout {
namespace {

constexpr std::uint64_t apart_bytes = 1024;
constexpr std::uint64_t apart_rows = 16;

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

RehearsalPlace rehearsal_behind(LoadPath path, std::uint64_t buffer_bytes) {
  if (path == LoadPath::texture_1d) {
    const std::uint64_t offset_bytes = round_up(buffer_bytes, apart_bytes) + apart_bytes;
    return {.offset_bytes = offset_bytes, .span_bytes = offset_bytes + apart_bytes};
  }
  if (path == LoadPath::texture_2d) {
    const std::uint64_t offset_bytes =
        round_up(buffer_bytes, texture_row_bytes) + apart_rows * texture_row_bytes;
    return {.offset_bytes = offset_bytes, .span_bytes = offset_bytes + texture_row_bytes};
  }
  return {.offset_bytes = 0, .span_bytes = buffer_bytes};
}

WordLayout word_layout(LoadPath path) {
  if (path == LoadPath::constant) return {.word_bytes = 4, .group_words = 8};
  if (path == LoadPath::texture_2d) return {.word_bytes = texel_bytes, .group_words = 2};
  return {};
}

std::uint64_t place_of(LoadPath path, std::uint64_t base_address, std::uint64_t offset_bytes) {
  if (path == LoadPath::constant) return offset_bytes;
  if (path == LoadPath::texture_1d) return offset_bytes / texel_bytes;
  if (path != LoadPath::texture_2d) return base_address + offset_bytes;
  return offset_bytes / texture_row_bytes << 32 | offset_bytes % texture_row_bytes / texel_bytes;
}

std::uint32_t script_unit(LoadPath path, std::uint32_t unit_bytes) {
  return is_texture(path) ? unit_bytes / static_cast<std::uint32_t>(texel_bytes) : unit_bytes;
}

bool is_texture(LoadPath path) {
  return path == LoadPath::texture_1d || path == LoadPath::texture_2d;
}

bool has_addresses(LoadPath path) {
  return !is_texture(path) && path != LoadPath::constant && path != LoadPath::instruction;
}

std::uint64_t free_bank_offset(const std::vector<std::uint64_t>& taken_offsets_bytes) {
  const std::uint64_t word_bytes = word_layout(LoadPath::constant).word_bytes;
  std::vector<bool> taken(constant_bank_bytes / word_bytes, false);
  for (std::uint64_t offset_bytes : taken_offsets_bytes) taken[offset_bytes / word_bytes] = true;
  std::uint64_t word = taken.size() - 1;
  while (word > 0 && taken[word]) --word;
  return taken[word] ? constant_bank_bytes - word_bytes : word * word_bytes;
}

}  // namespace sonde::layout
