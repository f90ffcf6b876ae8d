// The filters of HDF5 backwards (HDF5 file format 3.0, section IV.A.2.l, filter pipeline message).
#include "store/hdf5/chunks.hpp"

#include "base/error.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <ranges>
#include <span>

namespace sonde {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t checksum_bytes = 4;

[[noreturn]] void fail(const std::string& path) { throw StoreError(path + " has a damaged chunk"); }

/// Whether zlib's own checksum is looked at, which takes half as long as inflating what shrinks
/// well.
enum class Adler { look, leave };

/// @returns whether it fills `out`, neither less nor more
bool inflate_to(std::span<const std::uint8_t> packed, Adler adler, Bytes& out) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  inflateValidate(&stream, adler == Adler::look ? 1 : 0);
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

/// Element by element, of a width that the compiler knows, so that it joins several at once.
template <class Element>
void unshuffle_as(const std::uint8_t* from, std::size_t elements, std::uint8_t* to) {
  for (std::size_t i = 0; i < elements; ++i) {
    Element element = 0;
    for (std::size_t byte = 0; byte < sizeof(Element); ++byte) {
      element |= static_cast<Element>(Element{from[byte * elements + i]} << (8 * byte));
    }
    std::memcpy(to + i * sizeof(Element), &element,
                sizeof(Element));  // little-endian, as this machine
  }
}

/// Shuffled are first all first bytes of the elements, then all second ones, and so on; what is
/// left over behind the last element stays.
Bytes unshuffle(const Bytes& shuffled, std::size_t element_bytes) {
  const std::size_t elements = shuffled.size() / element_bytes;
  Bytes plain(shuffled.size());
  const std::uint8_t* from = shuffled.data();
  if (element_bytes == sizeof(std::uint64_t)) {
    unshuffle_as<std::uint64_t>(from, elements, plain.data());
  } else if (element_bytes == sizeof(std::uint32_t)) {
    unshuffle_as<std::uint32_t>(from, elements, plain.data());
  } else {
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      std::uint8_t* to = plain.data() + byte;
      for (std::size_t i = 0; i < elements; ++i) to[i * element_bytes] = from[byte * elements + i];
    }
  }
  std::copy(from + elements * element_bytes, from + shuffled.size(),
            plain.data() + elements * element_bytes);
  return plain;
}

/// The reverse.
Bytes shuffle(const Bytes& plain, std::size_t element_bytes) {
  const std::size_t elements = plain.size() / element_bytes;
  Bytes shuffled(plain.size());
  std::uint8_t* to = shuffled.data();
  for (std::size_t byte = 0; byte < element_bytes; ++byte) {
    const std::uint8_t* from = plain.data() + byte;
    for (std::size_t i = 0; i < elements; ++i) *to++ = from[i * element_bytes];
  }
  std::copy(plain.data() + elements * element_bytes, plain.data() + plain.size(), to);
  return shuffled;
}

Bytes deflate(const Bytes& plain, int level) {
  uLongf bytes = compressBound(plain.size());
  Bytes packed(bytes);
  if (compress2(packed.data(), &bytes, plain.data(), plain.size(), level) != Z_OK) {
    throw std::bad_alloc();
  }
  packed.resize(bytes);
  return packed;
}

std::uint64_t word_at(const std::uint8_t* bytes) {
  return static_cast<std::uint64_t>(bytes[0] << 8 | bytes[1]);
}

/// Fletcher's checksum of 16-bit words, which HDF5 takes from their bytes with the highest first.
/// The second sum is that of all values of the first: each word counts as often in it as there are
/// words from it on.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  // So many words at a time: their number is known to the compiler, which adds several at once.
  constexpr std::uint64_t block_words = 256;
  constexpr std::uint64_t low = 0xffff;
  const auto fold = [](std::uint64_t sum) { return (sum & low) + (sum >> 16); };
  std::uint64_t one = 0;
  std::uint64_t two = 0;
  std::size_t words = bytes.size() / 2;
  const std::uint8_t* at = bytes.data();
  for (; words >= block_words; words -= block_words, at += 2 * block_words) {
    std::uint32_t sum = 0;
    std::uint32_t weighted = 0;  // at most 65535 * 256 * 257 / 2
    for (std::uint32_t i = 0; i < block_words; ++i) {
      const auto word = static_cast<std::uint32_t>(at[2 * i] << 8 | at[2 * i + 1]);
      sum += word;
      weighted += word * (static_cast<std::uint32_t>(block_words) - i);
    }
    two = fold(fold(two + block_words * one + weighted));
    one = fold(fold(one + sum));
  }
  for (; words > 0; --words, at += 2) {
    one += word_at(at);
    two += one;
  }
  if (bytes.size() % 2 != 0) {
    one += static_cast<std::uint64_t>(*at) << 8;
    two += one;
  }
  const auto folded = [&](std::uint64_t sum) {
    while (sum > low) sum = fold(sum);
    return static_cast<std::uint32_t>(sum);
  };
  return folded(two) << 16 | folded(one);
}

/// Takes the checksum off. @returns whether it is right
bool check_sum(Bytes& bytes) {
  if (bytes.size() < checksum_bytes) return false;
  const std::size_t size = bytes.size() - checksum_bytes;
  std::uint32_t stored = 0;  // little-endian, as this machine
  std::memcpy(&stored, bytes.data() + size, checksum_bytes);
  bytes.resize(size);
  return stored == fletcher32(bytes);
}

/// @throws StoreError
Bytes unpack_chunk(const PackedChunks& packed, Bytes bytes) {
  const std::size_t plain_bytes = packed.chunk_rows * packed.element_bytes;
  for (auto filter = packed.filters.rbegin(); filter != packed.filters.rend(); ++filter) {
    if (*filter == H5Z_FILTER_SHUFFLE) {
      bytes = unshuffle(bytes, packed.element_bytes);
    } else if (*filter == H5Z_FILTER_FLETCHER32) {
      if (!check_sum(bytes)) fail(packed.path);
    } else {
      const bool summed_before =
          std::find(filter, packed.filters.rend(), H5Z_FILTER_FLETCHER32) != packed.filters.rend();
      Bytes inflated(plain_bytes + (summed_before ? checksum_bytes : 0));
      // A Fletcher sum of what comes out is looked at anyway.
      const Adler adler = summed_before ? Adler::leave : Adler::look;
      if (!inflate_to(bytes, adler, inflated)) fail(packed.path);
      bytes = std::move(inflated);
    }
  }
  if (bytes.size() != plain_bytes) fail(packed.path);
  return bytes;
}

}  // namespace

std::vector<std::uint8_t> pack_chunk(std::span<const std::byte> rows, std::size_t element_bytes,
                                     ChunkFilters filters) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(rows.data());
  Bytes bytes(begin, begin + rows.size());
  const std::uint32_t sum = fletcher32(bytes);  // little-endian, as this machine
  bytes.resize(rows.size() + checksum_bytes);
  std::memcpy(bytes.data() + rows.size(), &sum, checksum_bytes);
  if (filters.shuffle) bytes = shuffle(bytes, element_bytes);
  return filters.deflate_level > 0 ? deflate(bytes, filters.deflate_level) : bytes;
}

PackedColumn unpack_chunks(const PackedChunks& packed) {
  const std::size_t width = packed.element_bytes;
  PackedColumn column{packed.type, width, std::vector<std::byte>(packed.rows.length * width)};
  std::uint64_t row = packed.rows.offset;
  const std::uint64_t end = row + packed.rows.length;
  for (const Bytes& chunk : packed.chunks) {
    const Bytes plain = unpack_chunk(packed, chunk);
    const std::uint64_t within = row % packed.chunk_rows;
    const std::uint64_t count = std::min(packed.chunk_rows - within, end - row);
    std::memcpy(column.bytes.data() + (row - packed.rows.offset) * width,
                plain.data() + within * width, count * width);
    row += count;
  }
  return column;
}

}  // namespace sonde
