// What HDF5 packs comes out the same, whatever its filters; a flipped bit is found.
#include "store/hdf5/chunks.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "store/hdf5/dataset.hpp"
#include "support/random_run.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <span>
#include <utility>

namespace sonde {
namespace {

using hdf5::check;
using hdf5::Handle;

constexpr std::uint64_t all_rows = 1000;
constexpr hsize_t chunk_rows = 301;

using Filter = std::function<void(hid_t)>;
void fletcher(hid_t creation) { check(H5Pset_fletcher32(creation), "fletcher"); }
void shuffle(hid_t creation) { check(H5Pset_shuffle(creation), "shuffle"); }
void deflate(hid_t creation) { check(H5Pset_deflate(creation, 1), "deflate"); }

/// Texts of that width, few different ones, so that they shrink.
std::vector<std::byte> random_bytes(std::size_t width) {
  Random random(width);
  std::vector<std::byte> bytes(all_rows * width);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(5));
  return bytes;
}

void write_column(hid_t file, const std::vector<std::byte>& bytes, std::size_t width,
                  const std::vector<Filter>& filters) {
  const hsize_t size = all_rows;
  const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
  const Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  check(H5Pset_chunk(creation, 1, &chunk_rows), "chunk");
  for (const Filter& filter : filters) filter(creation);
  const Handle type = hdf5::utf8_type(width);
  const Handle dataset(H5Dcreate2(file, "column", type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose, "make");
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "write");
}

PackedChunks chunks_of(const std::vector<Filter>& filters, std::size_t width, RowRange rows) {
  const test::TemporaryFolder folder;
  hdf5::File file = hdf5::File::create(folder / "a.h5");
  write_column(file, random_bytes(width), width, filters);
  PackedChunks chunks;
  {
    const Dataset dataset = open_dataset(file, "column");
    chunks = read_chunks(dataset, "column", ElementType::text, width, rows);
  }
  file.close();
  return chunks;
}

TEST(ChunksTest, rows_come_out_as_they_were_written_whatever_the_filters) {
  const std::vector<std::vector<Filter>> pipelines{
      {},        {fletcher},          {deflate},           {fletcher, shuffle, deflate},
      {shuffle}, {deflate, fletcher}, {shuffle, fletcher}, {shuffle, deflate, fletcher}};
  for (const std::size_t width : {1, 2, 3, 8, 13}) {
    const std::vector<std::byte> all = random_bytes(width);
    for (const RowRange rows : {RowRange{0, all_rows}, RowRange{299, 5}, RowRange{700, 300}}) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(rows.offset * width);
      const std::vector<std::byte> expected(
          first, first + static_cast<std::ptrdiff_t>(rows.length * width));
      for (const auto& filters : pipelines) {
        EXPECT_EQ(unpack_chunks(chunks_of(filters, width, rows)).bytes, expected)
            << width << " bytes, " << filters.size() << " filters, from row " << rows.offset;
      }
    }
  }
}

TEST(ChunksTest, a_chunk_is_packed_as_HDF5_packs_it) {
  const std::vector<std::pair<std::vector<Filter>, ChunkFilters>> pipelines{
      {{fletcher}, {}},
      {{fletcher, deflate}, {.shuffle = false, .deflate_level = 1}},
      {{fletcher, shuffle, deflate}, {.shuffle = true, .deflate_level = 1}}};
  for (const std::size_t width : {2, 3, 8, 13}) {
    const std::vector<std::byte> all = random_bytes(width);
    const std::span rows = std::span(all).first(chunk_rows * width);
    for (const auto& [filters, same] : pipelines) {
      EXPECT_EQ(pack_chunk(rows, width, same), chunks_of(filters, width, {0, 1}).chunks.front())
          << width << " bytes, " << filters.size() << " filters";
    }
  }
}

TEST(ChunksTest, a_flipped_bit_is_found) {
  for (const auto& filters : std::vector<std::vector<Filter>>{
           {fletcher}, {fletcher, shuffle}, {fletcher, shuffle, deflate}, {deflate, fletcher}}) {
    PackedChunks chunks = chunks_of(filters, 8, {0, all_rows});
    for (const std::size_t byte : {std::size_t{7}, chunks.chunks[1].size() / 2}) {
      PackedChunks damaged = chunks;
      damaged.chunks[1][byte] ^= 4;
      EXPECT_THROW(unpack_chunks(damaged), StoreError) << byte << " of " << filters.size();
    }
  }
}

TEST(ChunksTest, a_chunk_of_another_size_is_refused) {
  for (const auto& filters : std::vector<std::vector<Filter>>{{}, {fletcher}, {shuffle}}) {
    PackedChunks chunks = chunks_of(filters, 8, {0, all_rows});
    chunks.chunks[2].resize(chunks.chunks[2].size() - 8);
    EXPECT_THROW(unpack_chunks(chunks), StoreError);
    chunks.chunks[2].resize(2);
    EXPECT_THROW(unpack_chunks(chunks), StoreError);
  }
}

}  // namespace
}  // namespace sonde
