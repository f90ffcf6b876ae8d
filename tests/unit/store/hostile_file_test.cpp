// Files made to do damage: each lie ends in a StoreError that names the file, and takes no memory.
#include "unit/store/hostile_file.hpp"

#include "base/random.hpp"
#include "store/hdf5/child.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <fstream>

namespace sonde {
namespace {

using hdf5::Handle;
using test::HostileFileTest;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

TEST_F(HostileFileTest, attributes_are_one_value_of_their_type) {
  const auto refused = [this](const char* name, const std::function<void(hid_t)>& write) {
    change([&](hid_t file) {
      const Handle group = hdf5::open_group(file, "provenance");
      H5Adelete(group, name);
      write(group);
    });
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("run.h5"), HasSubstr(name)));
  };
  const auto write_list = [](hid_t group, const char* name, hid_t type, hsize_t size,
                             const void* values) {
    const Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, "space");
    const Handle attribute(H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                           "create");
    hdf5::check(H5Awrite(attribute, type, values), "write");
  };
  refused("seed", [&](hid_t group) {
    const std::vector<std::uint64_t> many(1500, 7);
    write_list(group, "seed", H5T_STD_U64LE, many.size(), many.data());
  });
  refused("config_hash", [&](hid_t group) {
    const std::array<const char*, 3> texts{"one", "two", "three"};
    write_list(group, "config_hash", hdf5::utf8_type(H5T_VARIABLE), 3, texts.data());
  });
  refused("config_hash",
          [](hid_t group) { hdf5::write_attribute(group, "config_hash", std::uint64_t{7}); });
  refused("config_hash", [](hid_t group) {  // of variable length
    hdf5::write_attribute(group, "config_hash", "another");
  });
}

TEST_F(HostileFileTest, huge_claims_are_refused_before_memory_is_taken) {
  const hsize_t huge = hsize_t{1} << 45;
  const Handle chunked = hdf5::make_properties(H5P_DATASET_CREATE);
  const hsize_t chunk = 1 << 16;
  hdf5::check(H5Pset_chunk(chunked, 1, &chunk), "chunk");
  const Handle late = hdf5::make_properties(H5P_DATASET_CREATE);
  hdf5::check(H5Pset_alloc_time(late, H5D_ALLOC_TIME_LATE), "late");
  for (const hid_t creation : {hid_t{chunked}, hid_t{late}}) {
    replace("unaudited/unaudited", H5T_STD_U8LE, {huge});
    replace("unaudited/node", H5T_STD_U32LE, {huge}, creation);

    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("run.h5"), HasSubstr("unaudited/node")));
  }
}

TEST_F(HostileFileTest, wrong_shapes_and_types_are_refused) {
  replace("devices/rank", H5T_STD_I32LE, {1, 2});
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("devices/rank"), HasSubstr("dimension")));
  replace("devices/rank", H5T_STD_I32LE, {3});
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("devices/rank"), HasSubstr("3 rows")));
  replace("devices/rank", H5T_IEEE_F64LE, {2});
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("devices/rank"), HasSubstr("type")));
  replace("devices/rank", H5T_STD_I32LE, {2});
  EXPECT_THAT(error_of_reading(), HasSubstr("devices/rank")) << "it has no values";
}

TEST_F(HostileFileTest, a_chunk_that_is_not_deflated_is_refused) {
  const hsize_t rows = 4096;
  const Handle creation = hdf5::make_properties(H5P_DATASET_CREATE);
  hdf5::check(H5Pset_chunk(creation, 1, &rows), "chunk");
  hdf5::check(H5Pset_shuffle(creation), "shuffle");
  hdf5::check(H5Pset_deflate(creation, 1), "deflate");
  replace("unaudited/unaudited", H5T_STD_U8LE, {rows});
  replace("unaudited/node", H5T_STD_U32LE, {rows}, creation);
  change([&](hid_t file) {
    const Handle dataset(H5Dopen2(file, "unaudited/node", H5P_DEFAULT), H5Dclose, "open");
    const hsize_t first = 0;
    const std::string good_size(rows * 4, '\1');
    hdf5::check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, good_size.size(), good_size.data()),
                "write");
  });

  EXPECT_THAT(error_of_reading(), HasSubstr("unaudited/node"));
}

TEST(ChildTest, a_signal_in_it_is_an_error_and_an_exception_is_none) {
  EXPECT_THAT([] { try_in_child([] { std::raise(SIGSEGV); }); },
              testing::ThrowsMessage<StoreError>(HasSubstr("Segmentation fault")));
  EXPECT_NO_THROW(try_in_child([] { throw StoreError("known again when it is read"); }));
  EXPECT_NO_THROW(try_in_child([] {}));
}

TEST_F(HostileFileTest, links_to_elsewhere_are_not_followed) {
  const fs::path other = folder_ / "other.h5";
  fs::copy_file(path_, other);
  const auto relink = [&](const char* name, const auto& link) {
    change([&](hid_t file) {
      hdf5::check(H5Ldelete(file, name, H5P_DEFAULT), "delete");
      hdf5::check(link(file, name), "link");
    });
    EXPECT_THAT(error_of_reading(), AllOf(HasSubstr(name), HasSubstr("leads to another place")));
  };
  relink("devices/rank", [&](hid_t file, const char* name) {
    return H5Lcreate_external(other.c_str(), "/devices/rank", file, name, H5P_DEFAULT, H5P_DEFAULT);
  });
  relink("devices", [](hid_t file, const char* name) {
    return H5Lcreate_soft("/outcomes", file, name, H5P_DEFAULT, H5P_DEFAULT);
  });
}

TEST_F(HostileFileTest, values_kept_in_another_file_are_not_read) {
  const Handle external = hdf5::make_properties(H5P_DATASET_CREATE);
  hdf5::check(H5Pset_external(external, "/etc/hostname", 0, 8), "external");
  replace("unaudited/unaudited", H5T_STD_U8LE, {2});
  replace("unaudited/node", H5T_STD_U32LE, {2}, external);

  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("unaudited/node"), HasSubstr("another file")));

  const Handle virtual_one = hdf5::make_properties(H5P_DATASET_CREATE);
  const hsize_t two = 2;
  const Handle space(H5Screate_simple(1, &two, nullptr), H5Sclose, "space");
  hdf5::check(H5Pset_virtual(virtual_one, space, "other.h5", "/devices/rank", space), "virtual");
  replace("unaudited/node", H5T_STD_U32LE, {2}, virtual_one);

  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("unaudited/node"), HasSubstr("another file")));
}

TEST_F(HostileFileTest, there_are_no_more_parts_than_a_shard_has) {
  change([](hid_t file) {
    const Handle parts = hdf5::make_groups(file, "parts");
    for (int i = 0; i < 300; ++i) {
      const std::string name = fmt::format("{}", i);
      hdf5::check(H5Lcreate_hard(file, ".", parts, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "link");
    }
  });
  EXPECT_THAT(error_of_reading(), HasSubstr("at most 256 are read"));
}

TEST_F(HostileFileTest, only_regular_files_are_opened) {
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(error_of_reading(), HasSubstr("no regular file"));  // and does not wait for a writer
  fs::remove(path_);
  fs::create_symlink("run.h5", path_);
  EXPECT_THAT(error_of_reading(), HasSubstr("not to be read"));
}

TEST_F(HostileFileTest, single_flipped_bits_change_nothing_silently) {
  const std::string good = test::print(read_run(path_, Depth::traces));
  std::string bytes(fs::file_size(path_), '\0');
  std::ifstream(path_, std::ios::binary).read(bytes.data(), static_cast<long>(bytes.size()));
  Random random(1);
  int errors = 0;
  for (int i = 0; i < 60; ++i) {
    const std::size_t bit = random.below(bytes.size() * 8);
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    std::ofstream(path_, std::ios::binary) << damaged;
    try {
      check_readable(path_, Depth::traces);
      EXPECT_TRUE(test::print(read_run(path_, Depth::traces)) == good) << "bit " << bit;
    } catch (const StoreError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 5);
}

}  // namespace
}  // namespace sonde
