// All threads shuffle and compress; only the calling one calls HDF5.
#include "store/hdf5/chunks.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace sonde {
namespace {

using Bytes = std::vector<std::byte>;

Bytef* as_zlib(std::byte* bytes) { return reinterpret_cast<Bytef*>(bytes); }
const Bytef* as_zlib(const std::byte* bytes) { return reinterpret_cast<const Bytef*>(bytes); }

/// Calls `work(i)` for each i below `count`, in several threads.
template <class Work>
void for_each_in_threads(std::size_t count, std::size_t threads, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;
  for (std::size_t t = 1; t < std::min(threads, count); ++t) {
    others.push_back(std::async(std::launch::async, take_turns));
  }
  take_turns();
  for (std::future<void>& other : others) other.get();
}

/// HDF5's shuffle filter: a plane of the first bytes of all elements, then one of the second bytes,
/// and so on. `move` copies in either direction between an element and its plane.
template <class Elements, class Planes, class Move>
void shuffle(const ChunkLayout& layout, std::uint64_t first, Elements elements, Planes& planes,
             Move move) {
  for (std::size_t byte = 0; byte < layout.element_bytes; ++byte) {
    auto* plane = planes.data() + byte * layout.rows + first;
    for (std::size_t i = byte; i < elements.size(); i += layout.element_bytes) {
      move(elements[i], *plane++);
    }
  }
}

/// @param elements at most a whole chunk; the rest is filled with zeros
Bytes pack(const ChunkLayout& layout, std::span<const std::byte> elements) {
  Bytes planes(layout.rows * layout.element_bytes);
  shuffle(layout, 0, elements, planes, [](std::byte from, std::byte& to) { to = from; });
  uLongf size = compressBound(planes.size());
  Bytes packed(size);
  if (compress2(as_zlib(packed.data()), &size, as_zlib(planes.data()), planes.size(),
                deflate_level) != Z_OK) {
    throw StoreError("compressing a chunk failed");
  }
  packed.resize(size);
  return packed;
}

/// Decompresses a whole chunk into its planes.
Bytes unpack(const ChunkLayout& layout, const Bytes& packed) {
  Bytes planes(layout.rows * layout.element_bytes);
  uLongf size = planes.size();
  const int result =
      uncompress(as_zlib(planes.data()), &size, as_zlib(packed.data()), packed.size());
  if (result != Z_OK || size != planes.size()) throw StoreError("a chunk of it is damaged");
  return planes;
}

/// The size is safe to allocate: opening the column has compared it with the size of the file.
Bytes read_packed(hid_t dataset, hsize_t first) {
  hsize_t size = 0;
  hdf5::check(H5Dget_chunk_storage_size(dataset, &first, &size), "finding a chunk");
  Bytes packed(size);
  std::uint32_t skipped_filters = 0;
  hdf5::check(H5Dread_chunk(dataset, H5P_DEFAULT, &first, &skipped_filters, packed.data()),
              "reading a chunk");
  if (skipped_filters != 0) throw StoreError("a chunk of it is not compressed");
  return packed;
}

}  // namespace

std::size_t packing_threads() {
  constexpr std::size_t most_threads = 16;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads);
}

void write_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                  std::span<const std::byte> elements, std::size_t threads) {
  const std::size_t chunk_bytes = layout.rows * layout.element_bytes;
  std::vector<Bytes> packed((elements.size() + chunk_bytes - 1) / chunk_bytes);
  for_each_in_threads(packed.size(), threads, [&](std::size_t i) {
    const auto rest = elements.subspan(i * chunk_bytes);
    packed[i] = pack(layout, rest.first(std::min(chunk_bytes, rest.size())));
  });
  for (const Bytes& chunk : packed) {
    const hsize_t row = first;
    hdf5::check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &row, chunk.size(), chunk.data()),
                "writing a chunk");
    first += layout.rows;
  }
}

void read_chunks(hid_t dataset, const ChunkLayout& layout, std::uint64_t first,
                 std::span<std::byte> elements) {
  const std::uint64_t end = first + elements.size() / layout.element_bytes;
  const std::uint64_t first_chunk = first / layout.rows;
  std::vector<Bytes> packed;
  for (std::uint64_t row = first_chunk * layout.rows; row < end; row += layout.rows) {
    packed.push_back(read_packed(dataset, row));
  }
  for_each_in_threads(packed.size(), packing_threads(), [&](std::size_t i) {
    const std::uint64_t chunk = (first_chunk + i) * layout.rows;
    const std::uint64_t from = std::max(chunk, first);
    const std::uint64_t rows = std::min(chunk + layout.rows, end) - from;
    const Bytes planes = unpack(layout, packed[i]);
    shuffle(layout, from - chunk,
            elements.subspan((from - first) * layout.element_bytes, rows * layout.element_bytes),
            planes, [](std::byte& to, std::byte in_plane) { to = in_plane; });
  });
}

}  // namespace sonde
